// Style and script of the error page.

export const style = `
main,footer{max-width:42rem;margin-inline:auto;padding-inline:clamp(1rem,4vw,2rem)}
main{padding-block:clamp(2rem,8vh,5rem) 0}
footer{padding-bottom:2rem}
.operator{margin-bottom:1.75rem;font-size:1.125rem;font-weight:600;line-height:1.4}
.operator img{display:block;max-width:min(100%,16rem);max-height:3.5rem}
.code{display:inline-block;padding:.1rem .7rem;border-radius:99px;background:var(--wash);color:var(--bad);font-size:.9375rem;font-weight:600;font-variant-numeric:tabular-nums}
.way{display:grid;grid-template-columns:repeat(3,1fr);margin:2rem 0;padding:1.5rem .25rem 1.25rem;list-style:none;background:var(--card);border:1px solid var(--line);border-radius:14px;text-align:center}
.way li{position:relative;display:grid;justify-items:center;align-content:start;min-width:0}
.way svg{width:3.5rem;height:3.5rem;padding:.7rem;border-radius:50%;fill:none;stroke:currentColor;stroke-width:1.5;stroke-linecap:round;stroke-linejoin:round;border:2px solid;margin-bottom:.6rem}
.way b{color:var(--ink);line-height:1.3}
.way span{font-size:.875rem;line-height:1.4}
.way li+li::before{content:"";position:absolute;top:calc(1.75rem - 1px);left:calc(-50% + 2.25rem);right:calc(50% + 2.25rem);border-top:2px solid}
.way .good{color:var(--good)}
.way .bad{color:var(--bad)}
.way .bad svg{background:var(--wash)}
.way .bad::before{border-top-style:dashed}
.way li:nth-child(2)::before{border-top:2px solid var(--good)}
.way .idle{color:var(--soft)}
.way .idle svg{border-style:dashed}
.way .idle:last-child::before{border-top-style:dotted}
section{margin-top:1.75rem}
.next{padding:1.25rem 1.5rem 1.5rem;background:var(--card);border:1px solid var(--line);border-radius:14px}
.next strong:first-child{display:block;font-size:1.25rem;line-height:1.4}
.wait{margin-top:1rem;padding-top:1rem;border-top:1px solid var(--line)}
#wait{font-variant-numeric:tabular-nums}
progress{display:block;width:100%;height:6px;margin-top:.7rem;border:0;border-radius:3px;overflow:hidden;appearance:none;background:var(--line);color:var(--act)}
progress::-webkit-progress-bar{background:var(--line)}
progress::-webkit-progress-value{background:var(--act)}
progress::-moz-progress-bar{background:var(--act)}
#again{display:inline-block;margin-top:.9rem;padding:.45rem 1.05rem;border:1px solid var(--act);border-radius:8px;background:var(--act);color:var(--on-act);font-weight:600;text-decoration:none}
#again.early{border-color:var(--line);background:none;color:var(--act)}
dl{margin:0;border-top:1px solid var(--line);font-size:.9375rem}
dl div{display:flex;flex-wrap:wrap;gap:0 1rem;align-items:center;padding:.45rem 0;border-bottom:1px solid var(--line)}
dt{flex:0 0 3.75rem;color:var(--soft)}
dd{flex:1 1 10rem;margin:0;min-height:1.6rem}
dd:empty::before{content:"not given";color:var(--soft)}
#ray{user-select:all}
button{margin-left:.25rem;padding:.15rem .7rem;border:1px solid var(--line);border-radius:6px;background:var(--card);color:var(--act);font:inherit;font-size:.875rem;font-weight:600;cursor:pointer}
[hidden]{display:none!important}
@media (prefers-color-scheme:dark){.operator img{padding:.5rem .75rem;border-radius:8px;background:#f5f4f0;color:#1b2430}}
@media (forced-colors:active){progress{border:1px solid}}
@media print{body{background:#fff}.wait,button{display:none}}
`

export const script = `
(() => {
  const byId = id => document.getElementById(id)
  for (const time of document.querySelectorAll('time')) {
    const date = new Date(time.dateTime)
    time.title = time.textContent
    time.textContent = date.toLocaleString([], { dateStyle: 'medium', timeStyle: 'long' })
  }

  const copy = byId('copy')
  copy.hidden = false
  copy.onclick = () => {
    getSelection().selectAllChildren(byId('ray'))
    copy.textContent = document.execCommand('copy') ? 'Copied' : 'Selected'
    setTimeout(() => { copy.textContent = 'Copy' }, 2000)
  }

  const wait = byId('wait')
  if (!wait) return
  const seconds = Number(wait.dataset.seconds)
  const end = Date.now() + seconds * 1000
  const again = byId('again')
  const bar = byId('left')
  const two = n => String(n).padStart(2, '0')
  const clock = s => (s < 3600 ? '' : Math.floor(s / 3600) + ':') + (s < 3600 ? Math.floor(s / 60) : two(Math.floor(s / 60) % 60)) + ':' + two(s % 60)
  const count = document.createElement('b')
  wait.setAttribute('role', 'timer')
  wait.replaceChildren('You can try again in ', count)
  again.className = 'early'
  bar.hidden = false
  const tick = () => {
    const left = Math.ceil((end - Date.now()) / 1000)
    if (left > 0) {
      count.textContent = left < 60 ? left + (left === 1 ? ' second' : ' seconds') : clock(left)
      bar.value = left
      return
    }
    clearInterval(ticking)
    wait.hidden = bar.hidden = true
    byId('ready').textContent = 'You can try again now.'
    again.className = ''
  }
  const ticking = setInterval(tick, 250)
  tick()
})()
`
