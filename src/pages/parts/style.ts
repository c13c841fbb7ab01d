// The style of our components.

import { steps } from '../../errors/render/design-tokens.ts'

export const style = `
${steps}
main{max-width:30rem;margin-inline:auto;padding:clamp(1.25rem,5vh,3rem) clamp(1rem,4vw,2rem) var(--s7)}
main.wide{max-width:46rem}
.mark{display:flex;gap:var(--s2);align-items:center;margin-bottom:var(--s5);color:var(--soft);font-weight:600}
.back{margin-bottom:var(--s3);font-size:.9375rem}
.mark svg{width:1.5rem;height:1.5rem;fill:none;stroke:var(--act);stroke-width:1.75;stroke-linecap:round;stroke-linejoin:round}
h1{margin:0;font-size:clamp(1.625rem,1.3rem + 1.6vw,2.125rem)}
h2{margin:0 0 var(--s2);font-size:var(--middle);color:var(--ink)}
h3{margin:0;font-size:var(--small);color:var(--soft)}
.lead{margin-top:var(--s3);color:var(--soft)}
.card{margin-top:var(--s5);padding:var(--s5);background:var(--card);border:1px solid var(--line);border-radius:var(--rounder)}
.card>*+*{margin-top:var(--s4)}
.card>[data-passkeys]>*+*{margin-top:var(--s4)}
.card>h2+*{margin-top:var(--s2)}
.aside{margin-top:var(--s5);font-size:.9375rem;color:var(--soft)}
.aside+.aside{margin-top:var(--s2)}
form{display:grid;grid-template-columns:minmax(0,1fr);gap:var(--s4)}
form>button{justify-self:start}
form>.full{justify-self:stretch}
.consent{gap:var(--s5);margin-top:var(--s5)}
.consent>.card{margin:0}
.field label,legend{display:block;font-weight:600}
legend{padding:0}
.field input{display:block;width:100%;min-height:2.75rem;margin-top:var(--s1);padding:var(--s2) var(--s3);border:1px solid var(--edge);border-radius:var(--round);background:var(--paper);color:var(--ink);font:inherit}
.field input[aria-invalid]{border-color:var(--bad);border-width:2px}
.code input{max-width:14rem;font-size:var(--large);letter-spacing:.15em;font-variant-numeric:tabular-nums}
.hint{font-size:var(--small);font-weight:400;color:var(--soft)}
.fault{margin-top:var(--s1);font-size:.9375rem;font-weight:600;color:var(--bad)}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,10rem),1fr));gap:var(--s4)}
.pair>*+*{margin:0}
button,.button{display:inline-flex;min-height:2.75rem;align-items:center;justify-content:center;padding:var(--s2) var(--s5);border:1px solid var(--act);border-radius:var(--round);background:var(--act);color:var(--on-act);font:inherit;font-weight:600;text-align:center;text-decoration:none;cursor:pointer}
button:hover,.button:hover{filter:brightness(1.1)}
.plain{border-color:var(--edge);background:none;color:var(--act)}
.plain:hover{border-color:var(--act);filter:none}
.danger{border-color:var(--edge);background:none;color:var(--bad)}
.danger:hover{border-color:var(--bad);filter:none}
.full{width:100%}
.small{min-height:2.25rem;padding:var(--s1) var(--s3);font-size:.9375rem}
.choice{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,8rem),1fr));gap:var(--s3)}
.choice>*{padding-inline:var(--s3)}
.actions{display:flex;flex-wrap:wrap;gap:var(--s3);align-items:center}
.or{display:flex;gap:var(--s3);align-items:center;font-size:var(--small);color:var(--soft)}
.or::before,.or::after{content:"";flex:1;border-top:1px solid var(--line)}
.notice{margin-top:var(--s4);padding:var(--s3) var(--s4);border:1px solid var(--line);border-left:4px solid var(--act);border-radius:var(--round);background:var(--card)}
.notice.bad{border-left-color:var(--bad);background:var(--wash)}
.notice.good{border-left-color:var(--good)}
dl.facts{margin:0;font-size:.9375rem}
dl.facts div{display:flex;flex-wrap:wrap;gap:0 var(--s4);padding:var(--s2) 0}
dl.facts div:first-child{padding-top:0}
dl.facts div:last-child{padding-bottom:0}
dl.facts div+div{border-top:1px solid var(--line)}
dl.facts dt{flex:1 0 8.5rem;color:var(--soft)}
dl.facts dd{flex:9999 1 12rem;min-width:0;margin:0}
.proof{display:inline-flex;gap:var(--s1);align-items:baseline;font-weight:600}
.proof~.proof{margin-top:var(--s1)}
.proof.yes{color:var(--good)}
.proof.no{color:var(--bad)}
.proof svg{flex:none;align-self:center;width:1.125rem;height:1.125rem;fill:none;stroke:currentColor;stroke-width:2;stroke-linecap:round;stroke-linejoin:round}
.app{display:flex;gap:var(--s4);align-items:center}
.app-mark{flex:none;display:block;width:3.5rem;height:3.5rem;overflow:hidden;border:1px solid var(--line);border-radius:var(--round);background:var(--mark);color:#fff;font-size:var(--large);font-weight:600;line-height:3.375rem;text-align:center;white-space:nowrap}
.app-mark img{display:block;position:relative;width:100%;height:100%;background:#fff;object-fit:contain}
.app-mark img::after{content:attr(alt);position:absolute;inset:0;background:var(--mark)}
.app-mark.little{width:2rem;height:2rem;font-size:.8125rem;line-height:1.875rem}
.marked{display:flex;gap:var(--s3);align-items:center}
.c0{--mark:#2a5494}
.c1{--mark:#1c7152}
.c2{--mark:#8a3b12}
.c3{--mark:#7a2e6f}
.c4{--mark:#4c4a9c}
.c5{--mark:#0b6470}
fieldset{min-width:0;margin:0;padding:0;border:0}
.option{display:flex;gap:var(--s3);align-items:flex-start;padding:var(--s3) 0}
.option input{flex:none;width:1.25rem;height:1.25rem;margin:.15rem 0 0;accent-color:var(--act)}
.option label,.option b{display:block;font-weight:600}
.option p{font-size:.9375rem;color:var(--soft)}
.option svg{flex:none;width:1.25rem;height:1.25rem;margin-top:.15rem;fill:none;stroke:var(--soft);stroke-width:2;stroke-linecap:round;stroke-linejoin:round}
.card>ul:not([class]){padding-left:1.25rem}
.card>ul:not([class])>li+li{margin-top:var(--s2)}
.card>ul:not([class]):last-child{margin-bottom:0}
ul.rows,ul.options{margin:0;padding:0;list-style:none}
ul.rows>li+li,ul.options>li+li{border-top:1px solid var(--line)}
.options>:last-child{padding-bottom:0}
.group+.group{margin-top:var(--s4);padding-top:var(--s3);border-top:1px solid var(--line)}
ul.rows>li{display:flex;flex-wrap:wrap;gap:var(--s2) var(--s4);align-items:center;justify-content:space-between;padding:var(--s3) 0}
ul.rows>li:last-child{padding-bottom:0}
ul.rows>li>div{flex:1 1 14rem;min-width:0}
ul.rows>li>.actions{flex:none}
ul.rows p{font-size:var(--small);color:var(--soft)}
.tag{display:inline-block;padding:0 var(--s2);border:1px solid var(--line);border-radius:99px;font-size:.8125rem;font-weight:600;color:var(--soft);white-space:nowrap}
.qr{display:block;width:min(100%,15rem);height:auto;border-radius:var(--round);background:#fff;color:#000;fill:currentColor}
.key{display:block;padding:var(--s3);border:1px solid var(--line);border-radius:var(--round);background:var(--paper);overflow-wrap:anywhere;user-select:all}
ol.codes{display:grid;grid-template-columns:repeat(auto-fit,minmax(9rem,1fr));gap:var(--s2);margin:0;padding:var(--s4);border:1px solid var(--line);border-radius:var(--round);background:var(--paper);list-style:none;user-select:all}
.whole{white-space:nowrap}
details summary{cursor:pointer;color:var(--act);font-weight:600}
details[open] summary{margin-bottom:var(--s3)}
@media (forced-colors:active){.notice,.tag{border:1px solid}}
@media print{.mark,button,.button{display:none}}
`
