// The front page of the side port: the state of the gateway, and links.

import { html } from '../../base/text/html.ts'
import type { StoreHealth } from '../../metrics/counters/counts.ts'
import { negotiate } from '../../errors/audience/negotiate.ts'
import { Frame } from '../../errors/render/page.ts'
import type { ApiResponse } from '../http/envelope.ts'
import { ready, type Unready } from './health.ts'

const links = [
  ['readyz', 'Readiness, for load balancers'],
  ['metrics', 'Metrics in the Prometheus text format'],
  ['errors', 'Every error that clients can see: its causes, and what to check'],
  ['docs', 'The guides of this version'],
  ['docs/api', 'The management API: each operation, with an example'],
  ['client/v4/openapi.json', 'The same for programs, as OpenAPI 3.1'],
] as const

export function home(accept: string | null, unready: Unready, store: StoreHealth | null): ApiResponse {
  const { status, reason }: State = JSON.parse(ready(unready, store).body)
  if (negotiate(accept) !== 'html') {
    const body = JSON.stringify({ status, reason, links: links.map(([path]) => `/${path}`) })
    return { status: 200, headers: { ...headers, 'content-type': 'application/json' }, body: `${body}\n` }
  }
  const content = html`<main>
<h1>Gatehouse</h1>
<p class="state ${status}">${states[status]}${reason !== undefined && `: ${reason}`}</p>
<ul>
${links.map(
  ([path, text]) => html`<li><a href="${path}">/${path}</a><p>${text}</p></li>
`,
)}</ul>
<p class="note">This is the side port, for operators. Clients connect to the addresses of <code>listen</code>. The management API is below <code>/client/v4</code> and asks for a token.</p>
</main>`
  return {
    status: 200,
    headers: {
      ...headers,
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': frame.policy,
    },
    body: frame.page('Gatehouse', content),
  }
}

interface State {
  readonly status: keyof typeof states
  readonly reason?: string
}

const states = { ready: 'Ready', degraded: 'Degraded', unready: 'Not ready' }

const headers = { 'cache-control': 'no-store', vary: 'Accept' }

const frame = new Frame(
  `
main{max-width:48rem;margin-inline:auto;padding:clamp(1.5rem,6vh,4rem) clamp(1rem,4vw,2rem) 3rem}
.state{display:inline-block;margin-top:.75rem;padding:.1rem .7rem;border:1px solid;border-radius:99px;font-size:.9375rem;font-weight:600;color:var(--good)}
.degraded,.unready{border-color:transparent;background:var(--wash);color:var(--bad)}
ul{margin:1.75rem 0;padding:.5rem 1.5rem;list-style:none;background:var(--card);border:1px solid var(--line);border-radius:14px}
li{padding:.75rem 0}
li+li{border-top:1px solid var(--line)}
li a{font-weight:600}
li p,.note{font-size:.9375rem;color:var(--soft)}
`,
  null,
)
