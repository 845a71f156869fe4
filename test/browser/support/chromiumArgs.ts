/** The options that the browser of the tests gets besides those of Playwright. */

// Chromium renders the popups of its address bar for each window, in a process for each context, although nothing shows them:
// a quarter of the processor time that three contexts with an empty page take.
export const popups = ["WebUIOmniboxAimPopup", "WebUIOmniboxFullPopup", "WebUIOmniboxPopup"]

// Of two lists of features, the last one counts. `chromiumArgs.test.ts` compares these with the list of Playwright.
const disabledByPlaywright = [
  "AimEnabled",
  "AvoidCorsURLLoaderRestartOnRedirect",
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "HttpsFirstBalancedModeAutoEnable",
  "HttpsUpgrades",
  "LensOverlay",
  "MediaRouter",
  "NetworkTimeServiceQuerying",
  "OptimizationHints",
  "PaintHolding",
  "PreconnectToSearch",
  "TcpPortRandomizationWin",
  "ThirdPartyStoragePartitioning",
  "msEdgeUpdateLaunchServicesPreferredVersion",
  "msForceBrowserSignIn"
]

export const args = [
  "--no-sandbox",
  "--disable-gpu",
  `--disable-features=${[...disabledByPlaywright, ...popups].join(",")}`
]
