/**
 * The stylesheet of the documentation pages, served at `/docs/style.css`: one request, kept by the browser.
 *
 * Invariant: every pair of text and ground has a contrast of at least 4.5 : 1, light and dark; nothing is wider than
 * a screen of 320 px.
 */

/** CSS. Fonts are the system's own; nothing is fetched from anywhere else. */
export const DOCS_STYLE = `:root {
  color-scheme: light dark;
  --ink: #14212b; --soft: #53626d; --ground: #f4f6f4; --paper: #ffffff; --line: #dfe4e3;
  --brand: #0b6e4f; --tint: #e8f3ee; --copper: #a8481f;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #eef3f1; --soft: #a5b3ae; --ground: #0e1614; --paper: #16211e; --line: #2c3a36;
    --brand: #3fbf93; --tint: #17332a; --copper: #e29a72;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
a { color: var(--brand); text-underline-offset: 3px; }
:focus-visible { outline: 3px solid var(--brand); outline-offset: 2px; border-radius: 4px; }
.skip { position: absolute; left: -999px; }
.skip:focus { left: 16px; top: 8px; padding: 8px 12px; background: var(--paper); z-index: 1; }
header, main { max-width: 760px; margin: 0 auto; padding: 16px; }
header { display: flex; flex-wrap: wrap; gap: 8px 24px; align-items: center; justify-content: space-between; }
.home { display: inline-flex; align-items: center; min-height: 44px; color: var(--ink); font-weight: 700; text-decoration: none; }
.languages { display: flex; flex-wrap: wrap; margin: 0; padding: 0; list-style: none; }
.languages a { display: inline-flex; align-items: center; min-height: 44px; padding: 0 8px; border-radius: 12px; font-size: 14px; color: var(--soft); text-decoration: none; }
.languages a:hover { color: var(--ink); text-decoration: underline; }
.languages a[aria-current] { background: var(--tint); color: var(--brand); font-weight: 600; }
h1 { margin: 16px 0 8px; font-size: clamp(24px, 6vw, 34px); line-height: 1.2; overflow-wrap: anywhere; }
h2 { margin: 32px 0 8px; font-size: 18px; }
.lead { margin: 0 0 16px; color: var(--soft); }
.paper { background: var(--paper); border: 1px solid var(--line); border-radius: 16px; padding: 4px 16px; }
.facts { margin: 0; }
.facts > div { padding: 12px 0; border-top: 1px solid var(--line); }
.facts > div:first-child { border-top: 0; }
dt { color: var(--soft); font-size: 14px; }
dd { margin: 0; overflow-wrap: anywhere; }
.remedy dd { font-weight: 600; }
.list { margin: 0; padding: 4px 16px; list-style: none; }
.list li { border-top: 1px solid var(--line); padding: 12px 0; }
.list li:first-child { border-top: 0; }
.list p { margin: 4px 0 0; color: var(--soft); }
.list a { display: inline-flex; flex-wrap: wrap; gap: 0 12px; align-items: center; min-height: 44px; margin-right: 12px; font-weight: 600; text-decoration: none; }
.list a:hover { text-decoration: underline; }
.http { color: var(--copper); font-weight: 400; font-variant-numeric: tabular-nums; }
code, pre { font: 14px/1.6 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; overflow-wrap: anywhere; }
pre { margin: 0; padding: 16px; white-space: pre-wrap; background: var(--paper); border: 1px solid var(--line); border-radius: 12px; }
.back { display: inline-flex; align-items: center; min-height: 44px; margin-top: 24px; }
@media print { header nav { display: none; } body { background: #fff; } }
`;
