/**
 * Every text of the console in English. The other languages have the same keys: a test compares them.
 */

const plural = (count: number | string, one: string, many: string) => `${count} ${count === 1 ? one : many}`

/** The deliveries that a step ends, if their number is known. */
const ending = (count: number | string | undefined) =>
  count === undefined
    ? "Deliveries under way end as “endpoint off” at their next attempt."
    : count === 0
      ? "No deliveries are under way."
      : `${plural(count, "delivery under way ends", "deliveries under way end")} as “endpoint off” at the next attempt.`

const windowOf = (window: string) => (window === "7d" ? "7 days" : "24 hours")

export const en = {
  /** The locale of dates and numbers. */
  locale: "en-GB",
  loading: "Loading",
  copied: "Copied",
  copyFailed: "The browser did not allow copying.",
  copyId: (id: string) => `Copy ${id}`,
  copyRequestId: "Copy the request ID",
  copySnippet: (name: string) => `Copy ${name}`,
  tryAgain: "Try again",
  asOf: "Shown as of",
  cancel: "Cancel",
  close: "Close",
  save: "Save",
  saved: "Saved",
  viewAll: "View all",
  id: "ID",
  name: "Name",
  created: "Created",
  updated: "Changed",
  actions: "Actions",
  never: "Never",
  now: "now",
  dangerZone: "Danger zone",
  skip: "Skip to the content",
  notShown: "This page cannot be shown right now",
  pages: "Pages",
  newer: "Newer",
  older: "Older",
  perPage: (count: number) => `${count} per page`,
  seconds: (count: number) => `${count} s`,
  minutes: (count: number) => `${count} min`,
  hours: (count: number) => `${count} h`,
  days: (count: number) => plural(count, "day", "days"),
  ago: (amount: string) => `${amount} ago`,
  inTime: (amount: string) => `in ${amount}`,
  justNow: "just now",
  barsLabel: (total: string, trouble: string) => `${total} deliveries, ${trouble} of them retrying or failed`,

  updating: {
    updated: "Updated",
    paused: "Paused",
    pause: "This page updates automatically. Pause",
    resume: "Paused. Resume"
  },

  status: {
    invoice: {
      queued: "Queued",
      submitting: "Submitting",
      retrying: "Retrying",
      submitted: "Submitted",
      accepted: "Accepted",
      rejected: "Rejected",
      failed: "Failed"
    } as Readonly<Record<string, string>>,
    delivery: {
      pending: "Pending",
      delivering: "Delivering",
      retrying: "Retrying",
      succeeded: "Succeeded",
      failed: "Failed",
      endpoint_disabled: "Endpoint off"
    } as Readonly<Record<string, string>>
  },
  meanings: {
    invoice: {
      queued: "The invoice is stored and waiting for its turn.",
      submitting: "The invoice is being sent.",
      retrying: "The last attempt failed. Govoice will try again automatically.",
      submitted: "KSeF has received the invoice and has not decided yet.",
      accepted: "KSeF has accepted the invoice and given it a number. The receipt (UPO) may follow.",
      rejected: "KSeF has rejected the invoice.",
      failed: "KSeF did not decide, and Govoice will not send the invoice again."
    } as Readonly<Record<string, string>>,
    /** Of a test invoice, where KSeF has no part. */
    testInvoice: {
      submitted: "The sandbox has received the invoice and has not decided yet.",
      accepted: "The sandbox has accepted the invoice and given it a number. The receipt (UPO) may follow.",
      rejected: "The sandbox has rejected the invoice.",
      failed: "The sandbox did not decide, and Govoice will not send the invoice again."
    } as Readonly<Record<string, string>>,
    delivery: {
      pending: "Waiting for its first attempt.",
      delivering: "Being sent.",
      succeeded: "The receiver answered with a 2xx status.",
      retrying: "The last attempt failed. Govoice will try again automatically.",
      failed: "Govoice will not try again.",
      endpoint_disabled: "The endpoint was off or deleted when the event was to be sent."
    } as Readonly<Record<string, string>>
  },
  mode: { title: "Mode", test: "TEST", live: "LIVE" },

  /** Errors by their code. Others have the sentence of the API. */
  problems: {
    connection_failed: "The server cannot be reached. Check the connection.",
    connection_error: "The server cannot be reached. Check the connection.",
    timeout: "The server did not answer in time.",
    missing_access_token: "Your session has ended. Log in again.",
    rate_limit_exceeded: "Too many requests in a short time. Wait a minute, then try again.",
    invalid_credentials: "The email or the password is wrong.",
    email_taken: "An account with this email already exists. Log in, or use another email.",
    signup_disabled: "Sign-up is closed on this deployment. Ask its operator for an account.",
    invalid_refresh_token: "Your session has ended. Log in again.",
    cross_site_request: "The request came from another site. Open the console again.",
    limit_reached: "The maximum is reached. Remove one you no longer need.",
    unsafe_webhook_url: "Webhooks are not sent to this address. Enter a public https address.",
    live_mode_unavailable: "Live mode is not available. The page “Live mode” shows what is missing.",
    invoice_not_found: "There is no such invoice in this organization.",
    organization_not_found: "There is no such organization in this account.",
    api_key_not_found: "This key has already been revoked.",
    webhook_endpoint_not_found: "There is no such endpoint in this account, or it has been deleted.",
    webhook_delivery_not_found: "There is no such delivery, or it was removed with its event.",
    upo_not_available: "The receipt (UPO) is not available yet.",
    service_unavailable: "The server is overloaded or under maintenance. Try again in a moment.",
    wrong_cell: "The organization is moving to another server. Try again in a moment.",
    internal_error:
      "Something went wrong on the server. Try again. If it happens again, give the operator the request ID.",
    request_timeout: "The request took too long. Try again.",
    unexpected_response: "The server gave an unexpected answer. Try again."
  } as Readonly<Record<string, string>>,

  /** What a refused field needs, by its name in the API. */
  fieldProblems: {
    email: "Enter a complete email address, such as you@example.com.",
    password: "Use 12 to 128 characters.",
    new_password: "Use 12 to 128 characters.",
    name: "Use 1 to 200 characters.",
    description: "Use at most 500 characters.",
    max_in_flight: "Enter a whole number, at most the limit of the organization.",
    context: "The check digits are wrong, or the token was issued for another context.",
    token: "This is not a KSeF token.",
    private_key_password: "This password does not open the private key."
  } as Readonly<Record<string, string>>,

  insecure: {
    title: "A secure connection is needed",
    sentence:
      "The console works over https, and over http on this computer (127.0.0.1 or localhost). Open it at such an address."
  },
  unreachable: {
    title: "No connection",
    notRenewed: "Your session could not be renewed",
    goesOn: (time: string) => `You are still logged in. The page tries again in ${time}.`
  },
  apiDisabled: {
    title: "The API is off",
    sentence: "The operator has turned off the API of this deployment. The console works again once it is back on."
  },
  notFound: {
    title: "Nothing here",
    sentence:
      "There is nothing at this address in your account. It may belong to another account, or have been deleted.",
    home: "Go to the overview"
  },
  failure: {
    title: "This page failed",
    sentence: "An error in the console stopped this page. Nothing was changed. Reload it.",
    reload: "Reload"
  },
  go: {
    title: "Find",
    none: (id: string) => `No record of this account has the ID ${id.slice(0, 64)}.`
  },

  login: {
    title: "Log in",
    email: "Email",
    password: "Password",
    remember: "Stay logged in on this computer",
    submit: "Log in",
    busy: "Logging in…",
    noAccount: "No account yet?",
    toSignUp: "Sign up",
    toForgot: "Forgot password?",
    signUpClosed: "Sign-up is closed on this deployment. Ask its operator for an account."
  },
  forgot: {
    title: "Forgot password",
    meaning: "We send a link to your email address. It works for 30 minutes.",
    submit: "Send the link",
    busy: "Sending…",
    sentTitle: "Check your mail",
    sent: "If an account has this address, a link is on its way. It may take a few minutes. Look in the spam folder, too.",
    unavailable: "This deployment sends no mail. Ask its operator for a new password.",
    toLogin: "Back to log in"
  },
  reset: {
    title: "Choose a new password",
    meaning: "All sessions of the account end. API keys stay valid.",
    password: "New password",
    submit: "Save the password",
    busy: "Saving…",
    doneTitle: "Password saved",
    done: "All sessions have ended. Log in with the new password.",
    invalid: "The link was used, has expired, or was replaced by a newer one.",
    again: "Request another link",
    toLogin: "Log in"
  },
  signup: {
    title: "Sign up",
    submit: "Create the account",
    busy: "Creating the account…",
    passwordHint: "12 to 128 characters.",
    passwordEnough: "Long enough.",
    hasAccount: "Already have an account?",
    toLogin: "Log in",
    closed: "Sign-up is closed on this deployment. Ask its operator for an account."
  },

  nav: {
    label: "Screens",
    home: "Govoice, overview",
    overview: "Overview",
    invoices: "Invoices",
    deliveries: "Deliveries",
    endpoints: "Endpoints",
    keys: "API keys",
    live: "Live mode",
    settings: "Settings",
    organizations: "Organizations",
    newOrganization: "New organization",
    account: "Account",
    accountSettings: "Account",
    logout: "Log out",
    failedDay: (count: number) => `${count} failed in 24 hours`
  },
  help: {
    title: "Help",
    guides: "Guides",
    integrators: "Guide: For integrators",
    reference: "API reference",
    keys: "Keyboard shortcuts",
    live: "Guide: Live mode",
    sandbox: "Guide: The sandbox",
    webhooks: "Guide: Receiving webhooks",
    console: "Guide: The console"
  },
  theme: {
    system: "System",
    light: "Light",
    dark: "Dark",
    button: (current: string, next: string) => `Theme: ${current}. Switch to ${next}`
  },
  palette: {
    open: "Find an ID or a page",
    placeholder: "A page, an ID, or an invoice: its number, buyer, order=4711",
    results: "Results",
    none: "Nothing matches. Paste a whole ID, or the whole number of an invoice.",
    invoices: (name: string, text: string) => `Invoices by ${name}: ${text}`,
    goTo: (id: string) => `Go to ${id}`
  },
  keys: {
    title: "Keyboard shortcuts",
    single: "Single-key shortcuts",
    list: [
      [["⌘ K", "Ctrl K"], "Find an ID or a page"],
      [["g", "o"], "Overview"],
      [["g", "i"], "Invoices"],
      [["g", "d"], "Deliveries"],
      [["g", "e"], "Endpoints"],
      [["g", "k"], "API keys"],
      [["/"], "First filter"],
      [["j", "k"], "Next and previous row"],
      [["Enter"], "Open the focused row"],
      [["c"], "Copy the ID of the focused row"],
      [["Esc"], "Close the open menu or dialog"],
      [["?"], "These shortcuts"]
    ] as ReadonlyArray<readonly [ReadonlyArray<string>, string]>
  },

  account: {
    title: "Profile",
    password: "Password",
    currentPassword: "Current password",
    newPassword: "New password",
    passwordHint: "12 to 128 characters. This logs out all other sessions.",
    wrongPassword: "The current password is wrong.",
    changePassword: "Change the password",
    passwordChanged: "Password changed. All other sessions are logged out",
    logins: "Sessions",
    loginsMeaning:
      "Logging out takes effect at once in this browser, and within 10 seconds on other servers of the deployment.",
    logoutHere: "Log out here",
    logoutEverywhere: "Log out everywhere",
    preferences: "Preferences",
    preferencesMeaning: "Kept in this browser.",
    language: "Language",
    languages: { browser: "Same as the browser", en: "English", pl: "Polski" },
    theme: "Theme",
    density: "Density",
    dense: "Compact",
    comfortable: "Comfortable",
    timeZone: "Time zone",
    local: (zone: string) => `Local (${zone})`
  },
  organization: {
    title: "Organization",
    create: "New organization",
    meaning: "An organization owns API keys, webhook endpoints and invoices. Usually it is one company.",
    name: "Name",
    nameHint: "You can change it later.",
    submit: "Create the organization",
    cannotDelete: "An organization cannot be deleted. Revoke its keys and delete its endpoints to stop its traffic."
  },

  secret: {
    once: "This secret is shown only once. Store it now.",
    copy: "Copy",
    copyExport: (variable: string) => `Copy as export ${variable}=…`,
    stored: "I have stored it",
    done: "Done",
    leave: "You have not stored the secret, and it will not be shown again. Leave anyway?"
  },
  snippet: {
    install: "Install",
    save: (file: string) => `Save as ${file}`,
    run: "Run"
  },

  apiKeys: {
    create: "New API key",
    submit: "Create the key",
    list: "API keys of this organization",
    unnamed: "Unnamed",
    key: "Key",
    expires: "Expires",
    expired: "Expired",
    expiresHint: "An expired key is refused.",
    nameHint: "A note for yourself, such as where the key is used.",
    testMeaning: "Uses the sandbox. Nothing reaches KSeF.",
    liveMeaning: "Submits real invoices to KSeF.",
    liveModeOff: "Live mode is off on this deployment: a live key cannot submit until the operator turns it on.",
    empty: "No API keys yet. A test key submits invoices to the sandbox.",
    use: "Use it",
    createdTitle: (mode: string) => `Your new ${mode} key`,
    revoke: "Revoke",
    revokeKey: (last4: string) => `Revoke the key that ends in ${last4}`,
    revokeTitle: (last4: string) => `Revoke the key that ends in ${last4}?`,
    revokeMeaning: "Requests with this key fail at once. This cannot be undone.",
    typeLast4: (last4: string) => `Enter ${last4} to confirm`,
    revoked: "Key revoked"
  },

  endpoints: {
    endpoint: "Endpoint",
    create: "New endpoint",
    submit: "Create the endpoint",
    list: "Webhook endpoints",
    empty: "No endpoints yet. Add the URL where your program receives webhooks.",
    url: "URL",
    urlHint: "A public https address. Redirects are not followed: enter the final address.",
    localMeaning:
      "By default, webhooks go to public addresses only. To try a receiver on this computer, restart the server with two settings:",
    localSettings: "Settings for receivers on this computer",
    note: "Note",
    general: "Endpoint",
    standard: "Sign with Standard Webhooks too",
    standardHint: "Adds webhook-id, webhook-timestamp and webhook-signature for libraries of that specification.",
    types: "Event types",
    all: "All events",
    allHint: "Including types that are added later.",
    allShort: "All",
    some: "Selected events",
    modes: "Modes",
    modeHints: {
      test: "Events of sandbox invoices.",
      live: "Events of invoices sent to KSeF."
    },
    maxInFlight: "Concurrent requests",
    maxInFlightHint:
      "Maximum number of requests sent at the same time. Leave empty to use the limit of the organization.",
    headers: "Headers",
    headersMeaning:
      "Sent with every webhook, for example for a gateway in front of the receiver that requires a key. Values are never shown.",
    noHeaders: "None",
    headerNames: "Sent now",
    newHeaders: "New headers",
    newHeadersHint: "One per line, such as X-Api-Key: value; at most 10. They replace all headers that are sent now.",
    headerFault: "Each line needs a name, a colon and a value.",
    replaceHeaders: "Replace the headers",
    removeHeaders: "Remove all",
    headersSaved: "Headers saved",
    typeCount: (count: number) => plural(count, "type", "types"),
    state: "State",
    on: "On",
    off: "Off",
    switch: "Receives events",
    window: windowOf,
    barsOf: (url: string, window: string) => `Deliveries of the last ${windowOf(window)} to ${url}`,
    faults: {
      unreadable: "Enter a complete URL, such as https://shop.example.com/hooks/govoice.",
      scheme: "Use https.",
      userInfo: "A URL must not have a user name or password. Verify the signature instead.",
      fragment: "A URL must not have a fragment (#…): it is never sent."
    },
    createdTitle: "The signing secret of the new endpoint",
    secretMeaning:
      "Your receiver verifies each webhook with this secret. Set it as WEBHOOK_SECRET and start the receiver:",
    receiver: "Receiver",
    receiverMeaning:
      "This receiver verifies the signature and answers 204. Run it with the signing secret in WEBHOOK_SECRET.",
    noResend:
      "Govoice does not resend events on request. To try the receiver, submit a sandbox invoice: its events are real ones.",
    tabs: "Parts of the endpoint",
    tab: { health: "Health", deliveries: "Deliveries", receiver: "Receiver", settings: "Settings" },
    rotationPending: "A new signing secret is waiting. The old one is used until",
    turnedOn: "Endpoint turned on",
    turnedOff: "Endpoint turned off",
    deleted: "Endpoint deleted",
    turnOff: "Turn off",
    turnOffTitle: "Turn this endpoint off?",
    turnOffRow: "The endpoint receives no events until you turn it on again. Events in between are not sent later.",
    turnOffMeaning: (count: number | string | undefined) =>
      `${ending(count)} Events from now on are not sent to it, even after it is turned on again.`,
    secretTitle: "Signing secret",
    secretRow: "A new secret takes over at a time that you choose. Until then, the old one is used.",
    rotate: "Rotate the secret",
    delete: "Delete",
    deleteTitle: "Delete this endpoint?",
    deleteRow: "The deliveries of this endpoint end and are no longer shown. This cannot be undone.",
    deleteMeaning: (count: number | string | undefined) =>
      `${ending(count)} Its deliveries are no longer shown. This cannot be undone.`,
    typeHost: (host: string) => `Enter ${host} to confirm`
  },
  rotation: {
    title: "Rotate the signing secret",
    meaning:
      "Webhooks are signed with the old secret until the new one takes over. Deploy a receiver that accepts both before then.",
    when: "The new secret takes over",
    delays: { 0: "now", 3600: "in 1 hour", 86400: "in 24 hours", 604800: "in 7 days" } as Readonly<
      Record<number, string>
    >,
    proposed: "Recommended: allow more time than a deployment takes.",
    nowWarning: "The receiver rejects webhooks until it has the new secret.",
    replaces: "A rotation is pending. This one replaces it.",
    snippet: "A verifier with both secrets",
    doneTitle: "The new signing secret",
    activeNow: "It is used from now on.",
    oldSignsUntil: "The old secret is used until"
  },

  health: {
    title: "Deliveries",
    caption: (window: string) => `Deliveries of the last ${windowOf(window)}`,
    chart: (seconds: number) => (seconds >= 7200 ? `Deliveries, ${seconds / 3600} hours each` : "Deliveries by hour"),
    legend: "Red: retrying or failed.",
    show7d: "Show 7 days",
    show24h: "Show 24 hours",
    asTable: "As a table",
    asBars: "As bars",
    waiting: "Waiting",
    retrying: "Retrying",
    failed: (window: string) => `Failed, ${windowOf(window)}`,
    time: "Time to delivery, median / 95th percentile",
    timeNote: (count: number) => `newest ${count} that succeeded on the first attempt`,
    timeNone: "no delivery has succeeded on the first attempt yet",
    timeUnread: "not available right now",
    period: "From",
    deliveries: "Deliveries",
    retryingNow: "Retrying",
    failedHead: "Failed",
    disabled: "Endpoint off",
    empty: "No deliveries in this period.",
    emptyAction: "Set up a receiver",
    reasons: "Why deliveries fail",
    reason: "Last response",
    noReasons: "No deliveries are retrying or have failed.",
    newest: "Newest",
    reasonsNote: (count: number) => `Of the newest ${count} that are retrying or have failed.`
  },

  list: {
    status: "Status",
    all: "All",
    waiting: (count: string) => `${count} ${count === "1" ? "new row" : "new rows"} available`,
    show: (count: string) => `${count} new · show`,
    olderPage: "Older page: not updated",
    newestFirst: "Newest first",
    inDay: (count: string) => `${count} in 24 hours`,
    now: (count: string) => `${count} now`,
    dropped: (names: ReadonlyArray<string>) =>
      `This address has ${names.length === 1 ? "a value" : "values"} that cannot be read (${names.join(", ").slice(0, 120)}). ${names.length === 1 ? "It was" : "They were"} left out.`
  },
  filters: {
    label: "Filters",
    clear: "Clear the filters",
    remove: (label: string) => `Remove the filter ${label}`,
    allEndpoints: "All endpoints",
    allTypes: "All types",
    allStatuses: "All statuses",
    time: "Time",
    anyTime: "Any time",
    lastHour: "Last hour",
    lastDay: "Last 24 hours",
    lastWeek: "Last 7 days",
    range: "Custom range",
    from: (zone: string) => `From (${zone})`,
    to: (zone: string) => `To (${zone})`,
    apply: "Apply"
  },

  delivery: {
    title: "Delivery",
    titleOf: {
      pending: "Pending deliveries",
      delivering: "Deliveries being sent",
      succeeded: "Successful deliveries",
      retrying: "Retrying deliveries",
      failed: "Failed deliveries",
      endpoint_disabled: "Deliveries to endpoints that were off"
    } as Readonly<Record<string, string>>,
    titleOfOne: (id: string) => `Delivery ${id}`,
    list: "Deliveries",
    listAll: "Deliveries of all endpoints",
    event: "Event",
    attempts: "Attempts",
    response: "Response",
    noResponse: "none",
    next: "next",
    empty: "No deliveries yet. Each event is delivered to each endpoint that receives its type.",
    emptyFiltered: (days: number | undefined) =>
      `No deliveries match these filters.${days === undefined ? "" : ` Deliveries are kept for at least ${plural(days, "day", "days")} after their event.`}`,
    planned: "Planned",
    attempt: (count: number) => `Attempt ${count}`,
    earlier: (count: number) => plural(count, "earlier attempt failed", "earlier attempts failed"),
    nextAttempt: "Next attempt",
    course: "What happened",
    noInvoice: "Its event has expired",
    ends: {
      pending: "Waiting for its first attempt",
      delivering: "Being sent",
      failed: "Failed: there are no further attempts",
      endpoint_disabled: "Ended without a request: the endpoint was off"
    } as Readonly<Record<string, string>>,
    whatToDo: "What to do",
    neverTwice: "Govoice does not resend events on request. Read the invoice for its current status.",
    allOfEvent: "All deliveries of this event",
    eventId: "Event ID",
    id: "Delivery ID"
  },
  advice: {
    succeeded: "Nothing: the receiver answered with a 2xx status.",
    underway: "Nothing: the delivery is on its way.",
    disabled: "The endpoint was off or deleted before this event was sent. Turn it on to receive later events.",
    refused:
      "The receiver refuses the request. Check that it has the current signing secret, and that no login or firewall stands in front of it.",
    gone: "The receiver does not have this path. Correct the URL of the endpoint, or the route of the receiver.",
    redirect:
      "The receiver redirects, and redirects are not followed. Enter the final URL in the settings of the endpoint.",
    slow: "The receiver asked Govoice to slow down. Govoice honors Retry-After, and tries again at the time above.",
    clientError:
      "The receiver rejects the request. Its log has the reason: often a signature that does not verify, or a body that was parsed before it was verified.",
    serverError:
      "The receiver failed. Its log at the time of the attempt has the reason. Govoice tries again while attempts remain, and honors Retry-After of a 503.",
    timeout:
      "The receiver did not answer in time. Answer 2xx as soon as the event is stored, and process it afterwards.",
    connection:
      "No connection, so the receiver saw no request: its name, its port or its certificate is wrong. Govoice tries again while attempts remain.",
    address:
      "The URL leads to an address that is not allowed, such as one of a private network. Enter a public address, or ask the operator to allow the network.",
    interrupted: "The sender was interrupted. This is a fault of the deployment: give its operator the delivery ID.",
    operator: "This is a fault of the deployment. Give its operator the delivery ID.",
    other: "Check the log of the receiver at the time of the last attempt."
  },

  /** Why there is no HTTP status. */
  noResponse: {
    disabled: "none",
    timeout: "timed out",
    connection: "no connection",
    address: "not allowed",
    interrupted: "not sent",
    operator: "not sent"
  } as Readonly<Record<string, string>>,

  connectionCauses: {
    how: "Run this from outside your network. The output names the cause:",
    snippet: "Reach the receiver",
    // `output` is from curl.
    ofTls: [
      {
        output: "wrong version number",
        remedy: "The port speaks plain HTTP. Use the port with TLS, or a proxy that has a certificate."
      },
      {
        output: "SSL",
        remedy:
          "The certificate is not valid: it has expired, is self-signed, is for another name, or comes without its intermediate certificates. Install one from a public authority, with the whole chain."
      }
    ],
    addresses: [
      {
        output: "Could not resolve host",
        remedy: "The name has no address. Check its spelling in the URL, and its DNS records."
      },
      {
        output: "Connection refused",
        remedy: "Nothing is listening on the port. Start the receiver, or correct the port."
      },
      { output: "timed out", remedy: "A firewall drops the connection. Open the port to the internet." }
    ]
  },

  invoice: {
    title: "Invoice",
    titleOf: {
      queued: "Queued invoices",
      submitting: "Invoices being submitted",
      retrying: "Retrying invoices",
      submitted: "Submitted invoices",
      accepted: "Accepted invoices",
      rejected: "Rejected invoices",
      failed: "Failed invoices"
    } as Readonly<Record<string, string>>,
    list: "Invoices",
    number: "Number",
    officialNumber: "KSeF number",
    copyNumber: "Copy the KSeF number",
    scenario: "Scenario",
    metadataOf: (name: string) => `Metadata: ${name}`,
    names: {
      number: "invoice number",
      official: "KSeF number",
      buyer: "tax number of the buyer",
      seller: "tax number of the seller",
      metadata: "metadata",
      key: "Idempotency-Key"
    },
    placeholders: {
      number: "FV/2026/11/0042",
      official: "5265877635-20261120-…",
      buyer: "5260250274, DE123456789",
      seller: "5265877635",
      metadata: "order=4711",
      key: "invoice-0042"
    },
    findBy: "Find invoices by",
    find: "Find invoices",
    empty: "No invoices yet. Submit one with a test key:",
    emptyFiltered: "No invoices match these filters.",
    life: "Steps of the invoice",
    upo: "UPO",
    upoMeaning: (mode: string) =>
      `${mode === "test" ? "The sandbox" : "KSeF"} has accepted the invoice and given it a number. The receipt (UPO) can be downloaded.`,
    passed: "(passed)",
    ahead: "(ahead)",
    download: "Download UPO",
    downloadDocument: "Download XML",
    downloadPdf: "Download PDF",
    downloadQr: (format: string) => `Download ${format}`,
    sellersNumber: "Invoice number",
    issueDate: "Date of issue",
    seller: "Seller",
    buyer: "Buyer",
    total: "Total",
    form: "Form",
    attempts: "Attempts",
    submittedAt: "Submitted",
    completedAt: "Completed",
    code: "Code",
    position: "Position",
    positionOf: (line: number, column: number) => `line ${line}, column ${column}`,
    warningsMeaning: "KSeF will not reject the invoice for this, but check it:",
    deliveries: "Deliveries of this invoice",
    noDeliveries: "No endpoint received an event of this invoice.",
    verification: "Verification (KOD I)",
    verificationMeaning:
      "Print this QR code on the invoice: anybody can use it to check the invoice in KSeF. KSeF does not know sandbox invoices.",
    qrLabel: "QR code of the verification link",
    certificateCode: "Certificate (KOD II)",
    certificateCodeMeaning:
      "Print this QR code beside the first one, with CERTYFIKAT below it: it shows who issued the invoice before KSeF had it.",
    certificateQrLabel: "QR code of the certificate link",
    issued: "Issued",
    online: "online",
    offline: "offline",
    officialMode: "Mode in KSeF",
    sendBy: "Send by",
    sendByNear: (day: string) =>
      `This invoice was issued offline and has not been sent yet. It must reach KSeF by ${day}.`,
    corrects: "Corrects",
    copyLink: "Copy the link"
  },

  live: {
    conditions: "What live mode needs",
    met: "Met:",
    open: "Open:",
    environment: "Environment of KSeF:",
    deploymentOn: "Live mode is on for this deployment.",
    deploymentOff: "Live mode is off for this deployment. Its operator can turn it on.",
    credentialStored: "A credential for KSeF is stored.",
    credentialMissing: "No credential for KSeF is stored yet.",
    credentialAccepted: "KSeF accepts the credential.",
    credentialRefused: "KSeF refuses the credential.",
    credentialUnchecked:
      "The credential has not been checked yet. While live mode is on, the server logs in with it within seconds, or as soon as KSeF is available.",
    waiting: "Live invoices without a decision",
    waitingMeaning: "Invoices that wait here are sent when KSeF and its limits allow it.",
    waitingHere: "Waiting here",
    showWaiting: "Show invoices:",
    waitingQueued: "queued",
    waitingRetrying: "waiting to be resent",
    undecided: "At KSeF, not yet decided",
    oldest: "oldest",
    limits: "Limits of KSeF, last hour",
    noLimits: "KSeF reports its limits once it has accepted the credential.",
    group: "Calls",
    used: "Used",
    perHour: "Allowed per hour",
    unlimited: "unlimited",
    blocked: "Blocked until"
  },
  offlineCertificate: {
    title: "Certificate for issuing offline",
    none: "No certificate is stored, so live invoices cannot be issued offline. Request one of type Offline in KSeF and store it here.",
    serialNumber: "Serial number",
    subject: "Subject",
    validFrom: "Valid from",
    validUntil: "Valid until",
    expired: "This certificate has expired. Live invoices cannot be issued offline until you store another one.",
    pem: "Certificate of type Offline (PEM)",
    privateKey: "Private key of this certificate (PEM)",
    add: "Store a certificate",
    store: "Store the certificate",
    stored: "Certificate stored",
    replace: "Replace the certificate",
    replaceMeaning: "Invoices keep the codes that they were issued with.",
    remove: "Remove the certificate",
    removeTitle: "Remove the certificate?",
    removeMeaning: "Live invoices can then no longer be issued offline. Those already issued keep their codes.",
    removed: "Certificate removed"
  },

  certificateFile: {
    label: "Files",
    hint: "The certificate and its key in PEM, or one PKCS#12 file (.p12, .pfx). Your browser reads them.",
    password: (name: string) => `Password of ${name}`,
    faults: {
      incomplete: "This file has no certificate with its private key. Choose another one.",
      "old-encryption":
        "This file is encrypted in a way that browsers cannot read. Convert it: openssl pkcs12 -legacy -in old.p12 -out new.pem. Then choose new.pem.",
      unreadable: "This file is neither PEM nor PKCS#12. Choose another one.",
      "wrong-password": "The password of this file is wrong."
    }
  },

  credential: {
    title: "Credential for KSeF",
    none: "No credential is stored. Create one in the KSeF application of the taxpayer and store it here.",
    kind: "Kind",
    token: "KSeF token",
    tokenHint: "KSeF accepts tokens until the end of 2026.",
    certificate: "Certificate",
    certificateHint: "A KSeF certificate of type Authentication, with its private key.",
    certificatePem: "Certificate (PEM)",
    privateKey: "Private key (PEM)",
    privateKeyPassword: "Password of the private key",
    passwordHint: "Only if the key is encrypted. It is not stored.",
    writeOnly: "Stored encrypted. It is never shown again.",
    context: "Login context",
    contexts: { Nip: "NIP", InternalId: "Internal identifier", NipVatUe: "NIP and EU VAT number" },
    contextHints: {
      Nip: "The taxpayer whose invoices are submitted: ten digits.",
      InternalId: "A unit of the taxpayer: NIP, hyphen and five digits, as 5265877635-12346.",
      NipVatUe:
        "For self-billing by a buyer from another EU country: NIP of the seller, hyphen and VAT number of the buyer, as 5265877635-DE123456789. Use the certificate that was granted the permissions; KSeF accepts no other."
    },
    contextFaults: {
      Nip: "A NIP has ten digits, the last of which is a check digit. This one is wrong.",
      InternalId: "An internal identifier is a NIP, a hyphen and five digits. This one is wrong.",
      NipVatUe: "Enter a NIP, a hyphen and a VAT number with its country."
    },
    environment: "Environment",
    state: "State",
    states: { accepted: "Accepted", refused: "Refused", unchecked: "Not checked yet" },
    refusalCode: "Code of the refusal:",
    expires: "Expires",
    checked: "Last login",
    storedAt: "Stored",
    store: "Store the credential",
    stored: "Credential stored",
    replace: "Replace the credential",
    replaceMeaning: "The new credential replaces the old one at once. Waiting invoices are sent with the new one.",
    remove: "Remove the credential",
    removeTitle: "Remove the credential?",
    removeRow: "Live invoices are not sent until you store another credential.",
    removeMeaning:
      "Live keys cannot submit without it, and waiting live invoices are not sent until you store another one.",
    typeName: (name: string) => `Enter ${name} to confirm`,
    removed: "Credential removed"
  },

  overview: {
    well: "Everything is being delivered.",
    notWell: "Something needs your attention.",
    accepted: "Accepted, 24 hours",
    inProgress: "In progress",
    attention: "Needs attention, 24 hours",
    rejectedInvoices: (count: string) => `${count} ${count === "1" ? "invoice" : "invoices"} rejected`,
    failedInvoices: (count: string) => `${count} ${count === "1" ? "invoice" : "invoices"} failed`,
    failedDeliveries: (count: string) => `${count} ${count === "1" ? "delivery" : "deliveries"} failed`,
    nothing: "nothing",
    median: "Median time to UPO",
    medianNote: "over the last 100 receipts",
    endpoints: "Endpoints",
    failed: "Failed, 24 h",
    changed: "Changed",
    rotates: "new secret",
    troubles: "Recent failures",
    noTroubles: "No deliveries are retrying or have failed.",
    limitedSince:
      "Webhooks are waiting because this organization has reached its limit of concurrent requests. The oldest was due",
    limitedRemedy: "Answer webhooks sooner: store the event, respond, and process it afterwards.",
    keys: (test: number, live: number) =>
      `${plural(test, "test key", "test keys")} and ${plural(live, "live key", "live keys")}; the newest was created`,
    openKeys: "API keys",
    mostRows: (count: number) => `Only the newest ${count} rows are shown. Open an endpoint to see all of its rows.`
  },
  checklist: {
    title: "Getting started",
    count: (done: number, all: number) => `${done} of ${all}`,
    done: "Done:",
    complete: "Your first webhook was delivered",
    account: "Account",
    organization: "Organization",
    key: "Test key",
    keyTitle: "Create a test key",
    keyMeaning: "A test key submits invoices to the sandbox. Nothing reaches KSeF.",
    endpoint: "Endpoint",
    endpointTitle: "Add the endpoint of your receiver",
    endpointMeaning: "Each step of an invoice becomes an event, and Govoice sends it to your endpoint, signed.",
    invoice: "First invoice",
    invoiceTitle: "Submit your first invoice",
    invoiceMeaning: "From this page, from the shell, or from your code.",
    invoiceSnippet: "Submit an invoice",
    webhook: "First webhook delivered",
    webhookTitle: "Receive its first webhook",
    webhookLater: "The first event is sent as soon as an invoice is submitted.",
    webhookNone: "The invoice was submitted before the endpoint existed. Submit another one:",
    webhookWaiting: "The newest webhook appears here, without a reload:",
    verifiedMeaning:
      "Delivered means that the receiver answered with a 2xx status. A receiver that verifies, like the one on the endpoint's page, does so only if the signature is valid.",
    after: (time: string) => `after ${time}`
  },
  submit: {
    title: "Submit a sandbox invoice",
    meaning:
      "Sends a small document to the sandbox. For this one request, the page creates a test key and revokes it afterwards.",
    keyName: "Console, one request",
    scenario: "Outcome",
    scenarioNames: {
      accepted: "Accepted",
      rejected: "Rejected",
      temporary_failure: "Temporary failure",
      delayed: "Delayed"
    },
    scenarios: {
      accepted: "Accepted after two steps, then its receipt (UPO).",
      rejected: "Rejected after two steps.",
      temporary_failure: "Fails temporarily three times, then finally.",
      delayed: "Like Accepted, but the decision takes ten steps."
    },
    button: "Submit a sandbox invoice",
    done: "Submitted.",
    open: "Open the invoice"
  }
} as const

/** The same texts in any language: the keys of English, with words of its own. */
type Translated<T> = T extends string
  ? string
  : T extends (...args: infer A) => string
    ? (...args: A) => string
    : { readonly [K in keyof T]: Translated<T[K]> }

/** The texts of a language. */
export type Texts = Translated<typeof en>
