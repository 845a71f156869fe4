/**
 * Every text of the console. One table in one file, so that other languages can follow.
 */
const plural = (count: number | string, one: string, many: string) => `${count} ${count === 1 ? one : many}`

/** The deliveries that a step ends, if their number is known. */
const ending = (count: number | string | undefined) =>
  count === undefined
    ? "Deliveries on their way end as endpoint_disabled at their next attempt."
    : count === 0
      ? "No delivery is on its way."
      : `${plural(count, "delivery on its way ends", "deliveries on their way end")} as endpoint_disabled at their next attempt.`

export const en = {
  loading: "Loading",
  copied: "Copied",
  copyFailed: "The browser did not allow copying.",
  copyId: (id: string) => `Copy ${id}`,
  copyRequestId: "Copy the request id",
  copySnippet: (name: string) => `Copy ${name}`,
  tryAgain: "Try again",
  asOf: "Shown as of",
  cancel: "Cancel",
  close: "Close",
  save: "Save",
  saved: "Saved",
  id: "Id",
  name: "Name",
  created: "Created",
  updated: "Updated",
  actions: "Actions",
  never: "Never",
  now: "now",
  dangerZone: "Danger zone",
  skip: "Skip to the content",
  notShown: "This screen cannot be shown now",
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
  barsLabel: (total: number, trouble: number, isCapped: boolean) =>
    `${isCapped ? `${total} deliveries or more` : plural(total, "delivery", "deliveries")}, ${trouble} retrying or failed`,

  status: {
    queued: "Queued",
    submitting: "Submitting",
    retrying: "Retrying",
    submitted: "Submitted",
    accepted: "Accepted",
    rejected: "Rejected",
    failed: "Failed",
    pending: "Pending",
    delivering: "Delivering",
    succeeded: "Succeeded",
    endpoint_disabled: "Endpoint off"
  } as Readonly<Record<string, string>>,
  mode: { title: "Mode", test: "TEST", live: "LIVE" },

  problems: {
    connection_failed: "The server cannot be reached. Check the connection.",
    connection_error: "The server cannot be reached. Check the connection.",
    timeout: "The server did not answer in time.",
    missing_access_token: "The login has ended. Log in again."
  } as Readonly<Record<string, string>>,

  insecure: {
    title: "A secure connection is needed",
    sentence:
      "The console works over https, and over http on this computer (127.0.0.1 or localhost). Open it at such an address."
  },
  unreachable: {
    title: "No connection",
    notRenewed: "The login was not renewed",
    goesOn: (time: string) => `You are still logged in. The page tries again by itself after ${time}.`
  },
  apiDisabled: {
    title: "The API is off",
    sentence: "The operator has disabled the API of this deployment. The console works again when it is enabled."
  },
  notFound: {
    title: "Nothing here",
    sentence: "This address leads to nothing in this account. It may belong to another account or be deleted.",
    home: "Go to the overview"
  },
  failure: {
    title: "This screen failed",
    sentence: "A defect of the console stopped this screen. Nothing was changed. Reload the page.",
    reload: "Reload"
  },
  go: {
    title: "Find",
    none: (id: string) => `No record of this account has the id ${id.slice(0, 64)}.`
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
    signUpClosed: "Signing up is closed for this deployment. Ask its operator for an account."
  },
  signup: {
    title: "Sign up",
    submit: "Create the account",
    busy: "Creating the account…",
    passwordHint: "12 to 128 characters.",
    passwordEnough: "Long enough.",
    hasAccount: "Already an account?",
    toLogin: "Log in",
    closed: "Signing up is closed for this deployment. Ask its operator for an account."
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
    failedDay: (count: number) => `${count} failed in 24 h`
  },
  theme: {
    system: "System",
    light: "Light",
    dark: "Dark",
    button: (current: string, next: string) => `Theme: ${current}. Switch to ${next}`
  },
  palette: {
    open: "Find an id or a page",
    placeholder: "A page, a host, or an id: inv_… evt_… we_… wd_…",
    results: "Results",
    none: "Nothing matches. Paste a whole id to find a record.",
    goTo: (id: string) => `Go to ${id}`
  },
  keys: {
    title: "Keys",
    single: "Single-key shortcuts",
    list: [
      [["⌘ K", "Ctrl K"], "Find an id or a page"],
      [["g", "o"], "Overview"],
      [["g", "i"], "Invoices"],
      [["g", "d"], "Deliveries"],
      [["g", "e"], "Endpoints"],
      [["g", "k"], "API keys"],
      [["/"], "First filter"],
      [["j", "k"], "Next and previous row"],
      [["Enter"], "Open the focused row"],
      [["c"], "Copy the id of the focused row"],
      [["Esc"], "Close the topmost thing"],
      [["?"], "This sheet"]
    ] as ReadonlyArray<readonly [ReadonlyArray<string>, string]>
  },

  account: {
    title: "Identity",
    password: "Password",
    currentPassword: "Current password",
    newPassword: "New password",
    passwordHint: "12 to 128 characters. All other logins end.",
    wrongPassword: "The current password is wrong.",
    changePassword: "Change the password",
    passwordChanged: "Password changed; all other logins have ended",
    logins: "Logins",
    loginsMeaning: "A login ends at once in this browser, and within 10 seconds on other servers of the deployment.",
    logoutHere: "Log out here",
    logoutEverywhere: "Log out everywhere",
    preferences: "Preferences",
    preferencesMeaning: "Kept in this browser.",
    theme: "Theme",
    density: "Density",
    dense: "Dense",
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
    once: "This is the only time that the secret is shown. Store it now.",
    copy: "Copy",
    copyExport: (variable: string) => `Copy as export ${variable}=…`,
    stored: "I have stored it",
    done: "Done",
    leave: "The secret is not stored, and it is not shown again. Leave anyway?"
  },

  apiKeys: {
    create: "New API key",
    submit: "Create the key",
    list: "API keys of this organization",
    unnamed: "Unnamed",
    key: "Key",
    expires: "Expires",
    expired: "Expired",
    expiresHint: "Requests with an expired key fail.",
    nameHint: "For you: where the key is used.",
    testMeaning: "Uses the sandbox and reaches no national system.",
    liveMeaning: "Submits real invoices to the national system.",
    liveModeOff: "Live mode is off for this deployment: a live key cannot submit until the operator enables it.",
    empty: "There is no API key yet. A test key submits invoices to the sandbox.",
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
    empty: "There is no endpoint yet. Events are sent to endpoints only.",
    url: "URL",
    urlHint: "https with a public address. Redirects are not followed: enter the final URL.",
    localMeaning:
      "A deployment reaches public addresses only. To try a receiver on this computer, start the server again with two settings:",
    localSettings: "Settings for receivers on this computer",
    note: "Note",
    general: "Endpoint",
    standard: "Sign with Standard Webhooks too",
    standardHint: "Adds webhook-id, webhook-timestamp and webhook-signature for libraries of that specification.",
    types: "Event types",
    all: "All",
    allHint: "Also types that are added later.",
    allShort: "All",
    some: "Some",
    typeCount: (count: number) => plural(count, "type", "types"),
    state: "State",
    on: "On",
    off: "Off",
    switch: "Receives events",
    window: (window: string) => (window === "7d" ? "7 days" : "24 h"),
    barsOf: (url: string, window: string) => `Deliveries of the last ${window === "7d" ? "7 days" : "24 h"} to ${url}`,
    faults: {
      unreadable: "Enter a complete URL, such as https://shop.example.com/hooks/govoice.",
      scheme: "Use https.",
      userInfo: "A URL must not have a user name or password. Verify the signature instead.",
      fragment: "A URL must not have a fragment (#…): it is never sent."
    },
    createdTitle: "The signing secret of the new endpoint",
    secretMeaning:
      "Your receiver verifies each webhook with this secret. Set it as GOVOICE_WEBHOOK_SECRET and start the receiver:",
    receiver: "Receiver",
    receiverMeaning:
      "This receiver verifies the signature and answers 204. Run it with the signing secret in GOVOICE_WEBHOOK_SECRET.",
    noResend:
      "Govoice never sends an event twice on request. To try the receiver, submit a sandbox invoice: its events are real ones.",
    tabs: "Parts of the endpoint",
    tab: { health: "Health", deliveries: "Deliveries", receiver: "Receiver", settings: "Settings" },
    rotationPending: "A new signing secret waits. The old one signs until",
    turnedOn: "Endpoint turned on",
    turnedOff: "Endpoint turned off",
    deleted: "Endpoint deleted",
    turnOff: "Turn off",
    turnOffTitle: "Turn this endpoint off?",
    turnOffMeaning: (count: number | string | undefined) =>
      `${ending(count)} Events from now on are not sent to it, also not after it is turned on again.`,
    rotate: "Rotate the secret",
    delete: "Delete",
    deleteTitle: "Delete this endpoint?",
    deleteMeaning: (count: number | string | undefined) =>
      `${ending(count)} Its deliveries are no longer shown. This cannot be undone.`,
    typeHost: (host: string) => `Enter ${host} to confirm`
  },
  rotation: {
    title: "Rotate the signing secret",
    meaning: "Until the new secret is active, the old one signs. Deploy a receiver that accepts both in the meantime.",
    when: "The new secret signs",
    delays: { 0: "now", 3600: "in 1 hour", 86400: "in 24 hours", 604800: "in 7 days" } as Readonly<
      Record<number, string>
    >,
    proposed: "Proposed: longer than a deployment takes.",
    nowWarning: "The receiver rejects webhooks until it has the new secret.",
    replaces: "A rotation is pending. This one replaces it.",
    snippet: "A verifier with both secrets",
    doneTitle: "The new signing secret",
    activeNow: "It signs from now on.",
    oldSignsUntil: "The old secret signs until"
  },

  health: {
    title: "Deliveries",
    caption: (window: string) => `Deliveries of the last ${window === "7d" ? "7 days" : "24 hours"}`,
    legend: (seconds: number) =>
      `One bar: the deliveries of ${seconds >= 7200 ? `${seconds / 3600} hours` : "an hour"}. Red: retrying or failed.`,
    show7d: "Show 7 days",
    show24h: "Show 24 h",
    asTable: "As a table",
    asBars: "As bars",
    waiting: "Waiting",
    retrying: "Retrying",
    failed: (window: string) => `Failed, ${window === "7d" ? "7 days" : "24 h"}`,
    time: "Time to delivery, p50 / p95",
    timeNote: (count: number) => `newest ${count} that succeeded at once`,
    timeNone: "no delivery succeeded at once yet",
    timeUnread: "cannot be read now",
    period: "From",
    deliveries: "Deliveries",
    retryingNow: "Retrying",
    failedHead: "Failed",
    disabled: "Endpoint off",
    empty: "There was no delivery in this time.",
    emptyAction: "Set up a receiver",
    reasons: "Why deliveries fail",
    reason: "Last answer",
    noReasons: "No delivery is retrying or has failed.",
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
    inDay: (count: string) => `${count} in 24 h`,
    now: (count: string) => `${count} now`,
    dropped: (names: ReadonlyArray<string>) =>
      `This address has ${names.length === 1 ? "a value" : "values"} that cannot be read (${names.join(", ").slice(0, 120)}). It was left out.`
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
    range: "From and to…",
    from: (zone: string) => `From (${zone})`,
    to: (zone: string) => `To (${zone})`,
    apply: "Apply"
  },

  delivery: {
    title: "Delivery",
    titleOf: (status: string) => `${status} deliveries`,
    titleOfOne: (id: string) => `Delivery ${id}`,
    list: "Deliveries",
    listAll: "Deliveries of all endpoints",
    event: "Event",
    attempts: "Attempts",
    answer: "Answer",
    none: "none",
    next: "next",
    empty: "There is no delivery yet. Each event becomes one delivery for each endpoint that subscribes to its type.",
    emptyFiltered: (days: number | undefined) =>
      `No delivery matches these filters.${days === undefined ? "" : ` Deliveries are kept for ${plural(days, "day", "days")} after their event is complete.`}`,
    close: "Close the delivery",
    created: "Created",
    attempt: (count: number) => `Attempt ${count}`,
    http: (status: number) => `HTTP ${status}`,
    nextAttempt: "Next attempt",
    lastAttempt: "Last attempt",
    deliveredAt: "Delivered",
    ends: {
      pending: "Waits for its first attempt",
      delivering: "Being sent",
      succeeded: "Delivered",
      failed: "Failed: no further attempt",
      endpoint_disabled: "Ended without a request: the endpoint was off"
    } as Readonly<Record<string, string>>,
    whatToDo: "What to do",
    neverTwice: "Govoice never sends an event twice on request. Read the invoice for its current status.",
    openEndpoint: "Open the endpoint",
    openInvoice: "The invoice",
    allOfEvent: "All deliveries of this event",
    eventId: "Event id",
    id: "Delivery id"
  },
  advice: {
    succeeded: "Nothing: the receiver answered with a 2xx status.",
    underway: "Nothing: the delivery is on its way.",
    disabled: "The endpoint was off or deleted before this event was sent. Turn it on to receive later events.",
    refused:
      "The receiver refuses the request. Check that it has the current signing secret, and that no login or firewall stands before it.",
    gone: "The path does not exist at the receiver. Correct the URL of the endpoint, or the route of the receiver.",
    redirect:
      "The receiver redirects, and redirects are not followed. Enter the final URL in the settings of the endpoint.",
    slow: "The receiver asked to slow down. Govoice honors Retry-After and tries again at the time above.",
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
    interrupted: "The sender was interrupted. This is a fault of the deployment: tell its operator the delivery id.",
    operator: "This is a fault of the deployment. Tell its operator the delivery id.",
    other: "Check the receiver at the time of the last attempt."
  },

  /** Why there is no HTTP status, in a table. */
  noAnswer: {
    disabled: "none",
    timeout: "timed out",
    connection: "no connection",
    address: "not allowed",
    interrupted: "not sent",
    operator: "not sent"
  } as Readonly<Record<string, string>>,

  connectionCauses: {
    how: "Run this outside of your network. Its output names the cause:",
    snippet: "Reach the receiver",
    // `output` is from curl.
    certificate: {
      output: "SSL",
      remedy:
        "The certificate is not valid: it has expired, is self-signed, is for another name, or comes without its intermediate certificates. Install one of a public authority with the whole chain."
    },
    addresses: [
      {
        output: "Could not resolve host",
        remedy: "The name has no address. Check its spelling in the URL, and its DNS records."
      },
      { output: "Connection refused", remedy: "Nothing listens at the port. Start the receiver, or correct the port." },
      { output: "timed out", remedy: "A firewall drops the connection. Open the port to the internet." }
    ]
  },

  invoice: {
    title: "Invoice",
    titleOf: (status: string) => `${status} invoices`,
    list: "Invoices",
    number: "Official number or id",
    officialNumber: "Official number",
    copyNumber: "Copy the official number",
    scenario: "Scenario",
    metadata: "Metadata",
    metadataOf: (name: string) => `Metadata: ${name}`,
    idempotencyKey: "Idempotency-Key",
    find: "Find the invoice of this key",
    empty: "There is no invoice yet. Submit one with a test key:",
    emptyFiltered: "No invoice matches these filters.",
    life: "Steps of the invoice",
    upo: "UPO",
    upoMeaning: "The official number is assigned, and the receipt (UPO) can be downloaded.",
    passed: "(passed)",
    ahead: "(ahead)",
    download: "Download UPO",
    attempts: "Attempts",
    submittedAt: "Submitted",
    completedAt: "Final since",
    code: "Code",
    position: "Position",
    deliveries: "Deliveries of this invoice",
    allDeliveries: "All of them",
    noDeliveries:
      "There is no delivery of this invoice. Each of its events becomes one delivery for each endpoint that subscribes to its type.",
    verification: "Verification (KOD I)",
    verificationMeaning:
      "Anybody can check this invoice at KSeF with this link. The QR code belongs on its printed form.",
    noVerification: "This document or this environment has no verification link.",
    qrLabel: "QR code of the verification link",
    copyLink: "Copy the link"
  },

  live: {
    live: "Live",
    paused: "Paused",
    pause: "Updates by itself. Pause",
    resume: "Paused. Resume",
    conditions: "What live mode needs",
    met: "Met:",
    open: "Open:",
    environment: "Environment of KSeF:",
    deploymentOn: "The deployment has live mode enabled.",
    deploymentOff: "The deployment has live mode disabled. Its operator can enable it.",
    credentialStored: "A credential for KSeF is stored.",
    credentialMissing: "A credential for KSeF is not stored yet.",
    credentialAccepted: "KSeF accepts the credential.",
    credentialRefused: "KSeF refuses the credential.",
    credentialUnchecked:
      "The credential is not checked yet. While live mode is enabled, the server logs in with it within seconds, or as soon as KSeF is available.",
    waiting: "Live invoices without a verdict",
    waitingMeaning: "Invoices that wait here are sent when KSeF and its limits allow it.",
    waitingHere: "Waiting here",
    showWaiting: "Show the invoices",
    waitingQueued: "that are queued",
    waitingRetrying: "that are to be sent again",
    undecided: "At KSeF, not yet decided",
    oldest: "oldest",
    limits: "Limits of KSeF, last hour",
    noLimits: "KSeF tells its limits after it has accepted the credential.",
    group: "Calls",
    used: "Used",
    perHour: "Allowed per hour",
    unlimited: "unlimited",
    blocked: "Refused until"
  },
  credential: {
    title: "Credential for KSeF",
    none: "No credential is stored. Create one in the KSeF application of the taxpayer and store it here.",
    kind: "Kind",
    token: "KSeF token",
    tokenHint: "KSeF accepts tokens until the end of 2026.",
    certificate: "Certificate",
    certificateHint: "A KSeF certificate of the type Authentication with its private key.",
    certificatePem: "Certificate (PEM)",
    privateKey: "Private key (PEM)",
    privateKeyPassword: "Password of the private key",
    passwordHint: "Only if the key is encrypted. It is not stored.",
    writeOnly: "Stored encrypted. It is never shown again.",
    nip: "NIP",
    nipHint: "The taxpayer whose invoices are submitted: ten digits.",
    nipFault: "A NIP has ten digits, the last of which is a check digit. This one is wrong.",
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
    replaceMeaning: "The new credential replaces the old one at once. Invoices that wait are sent with the new one.",
    remove: "Remove the credential",
    removeTitle: "Remove the credential?",
    removeMeaning:
      "Live keys cannot submit without it, and live invoices that wait are not sent until another is stored.",
    typeName: (name: string) => `Enter ${name} to confirm`,
    removed: "Credential removed"
  },

  overview: {
    endpoints: "Endpoints",
    failed: "Failed, 24 h",
    changed: "Changed",
    rotates: "new secret",
    troubles: "Newest troubles",
    noTroubles: "No delivery is failed or retrying.",
    allFailed: "All failed",
    invoicesRetrying: "Invoices retrying",
    invoicesRejected: "Invoices rejected, 24 h",
    invoicesFailed: "Invoices failed, 24 h",
    keys: (test: number, live: number) =>
      `${plural(test, "test key", "test keys")} and ${plural(live, "live key", "live keys")}; the newest was created`,
    openKeys: "API keys",
    mostRows: (count: number) => `The newest ${count} rows. The page of an endpoint has all of its own.`
  },
  checklist: {
    title: "Getting started",
    count: (done: number, all: number) => `${done} of ${all}`,
    done: "Done:",
    complete: "Getting started is complete: a webhook was delivered.",
    newestDelivered: "The newest delivered webhook",
    account: "Account",
    organization: "Organization",
    key: "Test key",
    keyTitle: "Create a test key",
    keyMeaning: "A test key submits invoices to the sandbox, which reaches no national system.",
    endpoint: "Endpoint",
    endpointTitle: "Add the endpoint of your receiver",
    endpointMeaning: "Each step of an invoice becomes an event, and Govoice sends it to your endpoint, signed.",
    invoice: "First invoice",
    invoiceTitle: "Submit your first invoice",
    invoiceMeaning: "With your test key: from this page, from the shell, or from your code.",
    invoiceSnippet: "Submit an invoice",
    fromHere: "Submit a sandbox invoice",
    webhook: "First webhook delivered",
    webhookTitle: "Receive its first webhook",
    webhookLater: "The first event is sent as soon as an invoice is submitted.",
    webhookNone: "The invoice was submitted before the endpoint existed. Submit another one:",
    webhookWaiting: "The newest webhook stands here; this line updates by itself:",
    verifiedMeaning:
      "Delivered means that the receiver answered with a 2xx status. A receiver that verifies, as the snippet of the endpoint does, answers so only for a signature that is valid.",
    after: (time: string) => `after ${time}`
  },
  submit: {
    title: "Submit a sandbox invoice",
    meaning: "The page submits a small document with a test key. The key is used for this request and not kept.",
    key: "Test key",
    keyHint: "The key that you stored. Live keys are not accepted here.",
    or: "Not at hand?",
    createKey: "Create another test key",
    keyName: "Console",
    onlyTest: "Enter a test key: it begins with sk_test_.",
    scenario: "Scenario",
    scenarios: {
      accepted: "Accepted after two steps, then its receipt (UPO).",
      rejected: "Rejected after two steps.",
      temporary_failure: "Fails temporarily three times, then finally.",
      delayed: "As accepted, but the verdict takes ten steps."
    },
    button: "Submit a sandbox invoice",
    done: "Submitted.",
    open: "Open the invoice"
  }
} as const
