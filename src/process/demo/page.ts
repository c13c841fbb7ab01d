// The front page of the demo origin: every case, beside the gateway's response in three formats.

import { html } from '../../base/text/html.ts'
import { Frame } from '../../errors/render/page.ts'
import { misdeeds } from './misdeeds.ts'

const zones = [
  { host: 'down.localhost', here: '/down', expect: 'Nothing listens at the origin: error 521.' },
  { host: 'nodns.localhost', here: '/nodns', expect: 'The name of the origin does not resolve: error 1016.' },
  {
    host: 'selfsigned.localhost',
    here: '/selfsigned',
    expect: 'The certificate of the origin is not trusted: error 526.',
  },
  { host: 'nottls.localhost', here: '/nottls', expect: 'The origin does not speak TLS: error 525.' },
  {
    host: 'paused.localhost',
    here: '/cdn-cgi/error/1004',
    expect: 'The operator has paused the zone: error 1004.',
  },
  { host: 'unknown.localhost', here: '/cdn-cgi/error/1001', expect: 'No zone has this name: error 1001.' },
]

const style = `
main{max-width:76rem;margin-inline:auto;padding:clamp(1.5rem,6vh,4rem) clamp(1rem,4vw,2rem) 3rem}
.lead{max-width:44rem;margin-top:1rem;color:var(--soft)}
h2{margin:2.5rem 0 .75rem;font-size:1.0625rem;color:var(--ink)}
article{margin-top:.75rem;padding:1rem 1.25rem;background:var(--card);border:1px solid var(--line);border-radius:14px}
.case{display:flex;flex-wrap:wrap;gap:.25rem 1rem;align-items:center;justify-content:space-between}
.case div{flex:1 1 20rem}
h3{margin:0;font-size:1rem}
.case p{font-size:.9375rem;color:var(--soft)}
button{padding:.45rem 1.05rem;border:1px solid var(--line);border-radius:8px;background:none;color:var(--act);font:inherit;font-size:.9375rem;font-weight:600;cursor:pointer}
.shown{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,20rem),1fr));gap:1rem;margin-top:1rem}
.shown:empty{display:none}
.shown section{display:flex;flex-direction:column;min-width:0}
h4{margin:0;font-size:.875rem;color:var(--soft)}
.shown p{font-size:.875rem;font-weight:600;font-variant-numeric:tabular-nums}
.shown p.cut{color:var(--bad)}
pre,iframe{flex:1;width:100%;height:24rem;margin:.4rem 0 0;border:1px solid var(--line);border-radius:8px;background:var(--paper)}
pre{padding:.75rem;overflow:auto;font:.8125rem/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;white-space:pre-wrap}
[hidden]{display:none!important}
`

/** An HTML page is shown in a frame, which requests it as any visitor does; of other bodies the beginning. */
const script = `
(() => {
  const maxLength = 4000
  const formats = [['JSON, for programs', 'application/json'], ['Markdown, for agents', 'text/markdown'], ['A page, for people', 'text/html']]
  const make = (name, text) => Object.assign(document.createElement(name), { textContent: text })
  const read = async (response, view) => {
    const decoder = new TextDecoder()
    const reader = response.body.getReader()
    while (view.textContent.length < maxLength) {
      const { done, value } = await reader.read()
      if (done) return
      view.textContent = (view.textContent + decoder.decode(value, { stream: true })).slice(0, maxLength)
    }
    view.textContent += '…'
    await reader.cancel()
  }
  const show = async (path, accept, section, state) => {
    try {
      const response = await fetch(path, { headers: { accept }, cache: 'no-store' })
      const type = response.headers.get('content-type') ?? 'no type'
      const wait = response.headers.get('retry-after')
      state.textContent = [response.status, type.split(';')[0], ...(wait === null ? [] : ['Retry-After: ' + wait])].join(' · ')
      if (type.startsWith('text/html')) {
        const frame = make('iframe', '')
        frame.title = path + ' as a page'
        frame.src = path
        section.append(frame)
        return await response.body.cancel()
      }
      const view = make('pre', '')
      view.tabIndex = 0
      section.append(view)
      await read(response, view)
      if (type.startsWith('application/json')) view.textContent = JSON.stringify(JSON.parse(view.textContent), null, 2)
    } catch (cause) {
      if (cause instanceof SyntaxError) return
      state.textContent += ' · the connection was cut'
      state.className = 'cut'
    }
  }
  for (const article of document.querySelectorAll('[data-path]')) {
    const button = article.querySelector('button')
    const shown = article.querySelector('.shown')
    button.hidden = false
    button.onclick = async () => {
      button.disabled = true
      shown.replaceChildren()
      await Promise.all(formats.map(([name, accept]) => {
        const section = document.createElement('section')
        const state = make('p', 'Waiting')
        state.setAttribute('role', 'status')
        section.append(make('h4', name), state)
        shown.append(section)
        return show(article.dataset.path, accept, section, state)
      }))
      button.disabled = false
    }
  }
})()
`

const frame = new Frame(style, script)

export const demoPolicy = `${frame.policy}; connect-src 'self'; frame-src 'self'`

export function demoPage(port: string): string {
  const other = port === '' ? '' : `:${port}`
  return frame.page(
    'Gatehouse demo',
    html`<main>
<h1>An origin that misbehaves on demand</h1>
<p class="lead">You see this page through Gatehouse. Each case is one way to fail. Open it, or show what programs, agents and people get; each sees a separate request.</p>
<h2>What the origin does</h2>
${misdeeds.map(({ example, expect }) => caseOf(example, example, example, expect))}
<article><h3>/ws</h3><div class="case"><p>A WebSocket that echoes what it receives.</p></div></article>
<h2>Zones without a working origin</h2>
${zones.map(({ host, here, expect }) => caseOf(`http://${host}${other}/`, host, here, expect))}
</main>`,
  )
}

function caseOf(href: string, name: string, path: string, expect: string) {
  return html`<article data-path="${path}"><div class="case"><div><h3><a href="${href}">${name}</a></h3><p>${expect}</p></div>
<button type="button" hidden>Show in three formats</button></div>
<div class="shown"></div></article>
`
}
