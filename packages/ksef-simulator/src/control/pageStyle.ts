/**
 * How the page at `/` looks, in light and in dark.
 */
export const pageStyle = `
:root {
  --ground: #f7f8fa; --sheet: #fff; --ink: #1b2430; --faint: #5d6b7c; --line: #dfe4ea; --link: #0a58ca;
  --good: #137a3c; --good-ground: #e2f5e9; --warn: #8a5a00; --warn-ground: #fdf1d6;
  --bad: #b3261e; --bad-ground: #fbe4e2; --busy: #2f5d9b; --busy-ground: #e3edfa;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #12161c; --sheet: #1a2029; --ink: #e6ebf1; --faint: #98a6b6; --line: #2c3541; --link: #7ab2ff;
    --good: #6fd695; --good-ground: #173524; --warn: #f0c065; --warn-ground: #3a2d11;
    --bad: #ff9a92; --bad-ground: #43201e; --busy: #93bdf5; --busy-ground: #1d2f48;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 14px/1.5 system-ui, sans-serif; }
header, main { max-width: 1200px; margin: 0 auto; padding: 0 24px; }
header { padding-top: 28px; }
h1 { margin: 0; font-size: 22px; }
header p { margin: 4px 0 20px; color: var(--faint); }
a { color: var(--link); }
h2 { margin: 0; padding: 14px 16px; font-size: 15px; }
h2 small { margin-left: 6px; color: var(--faint); font-weight: 400; }
dl, section { background: var(--sheet); border: 1px solid var(--line); border-radius: 8px; margin: 0 0 20px; }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(250px, 1fr)); gap: 12px 24px; padding: 16px; }
dt { color: var(--faint); font-size: 12px; }
dd { margin: 0; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; }
th, td { padding: 7px 16px; border-top: 1px solid var(--line); text-align: left; vertical-align: top; white-space: nowrap; }
th { color: var(--faint); font-size: 12px; font-weight: 500; }
.long { min-width: 260px; max-width: 460px; white-space: normal; }
code { font: 12px/1.5 ui-monospace, monospace; }
.badge { display: inline-block; min-width: 38px; padding: 0 7px; border-radius: 9px; text-align: center; font-size: 12px; }
.good { color: var(--good); background: var(--good-ground); }
.warn { color: var(--warn); background: var(--warn-ground); }
.bad { color: var(--bad); background: var(--bad-ground); }
.busy { color: var(--busy); background: var(--busy-ground); }
.none { margin: 0; padding: 0 16px 16px; color: var(--faint); }
@media (max-width: 600px) { header, main { padding: 0 12px; } header { padding-top: 16px; } th, td { padding: 7px 10px; } }
meter { width: 72px; vertical-align: middle; }
`
