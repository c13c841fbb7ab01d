// The design of all visible pages: the colours, and the steps of space and type. Pages of errors, of sign-in
// and of the dashboard share them.

const colours = `
:root{color-scheme:light dark;--paper:#f5f4f0;--card:#fffefc;--ink:#1b2430;--soft:#57606e;--line:#dbd9d1;--good:#1c7152;--bad:#ad3a28;--wash:#fbece8;--act:#2a5494;--on-act:#fff;--edge:#7f8691}
@media (prefers-color-scheme:dark){:root{--paper:#11151b;--card:#191f28;--ink:#e7eaef;--soft:#a4adbb;--line:#323b48;--good:#63c79b;--bad:#ff9582;--wash:#341f1d;--act:#9dbef5;--on-act:#101a2b;--edge:#6b7788}}`

/** Steps of space and type, and corner radii, for pages with more than one text. */
export const steps =
  ':root{--s1:.25rem;--s2:.5rem;--s3:.75rem;--s4:1rem;--s5:1.5rem;--s6:2rem;--s7:3rem;--small:.875rem;--middle:1.0625rem;--large:1.25rem;--round:8px;--rounder:14px}'

/** Shared by all our pages: colours, type, focus. */
export const foundation = `${colours}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);font:1rem/1.6 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;overflow-wrap:anywhere}
h1{margin:.6rem 0 0;font:600 clamp(1.75rem,1.2rem + 2.6vw,2.6rem)/1.15 ui-serif,Georgia,Cambria,"Times New Roman",serif;letter-spacing:-.01em;text-wrap:balance}
h2{margin:0 0 .35rem;font-size:.9375rem;line-height:1.4;color:var(--soft);font-weight:600}
p{margin:0;text-wrap:pretty}
a{color:var(--act);text-underline-offset:.2em}
code{font:.9375em ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
:focus-visible{outline:3px solid var(--act);outline-offset:2px;border-radius:4px}
footer{margin-top:2rem;font-size:.875rem;color:var(--soft)}
`
