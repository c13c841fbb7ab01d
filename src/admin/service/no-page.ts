// The page for browsers at an unknown path of the side port.

import { html } from '../../base/text/html.ts'
import { Frame } from '../../errors/render/page.ts'
import type { ApiResponse } from '../http/envelope.ts'

export function noPage(front: string | null): ApiResponse {
  const content = html`<main>
<h1>Page not found</h1>
<p>There is nothing at this address.</p>
<p><a href="${front ?? '/'}">${front === null ? 'To the front page' : 'To the dashboard'}</a></p>
</main>`
  return {
    status: 404,
    headers: {
      'cache-control': 'no-store',
      vary: 'Accept',
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': frame.policy,
    },
    body: frame.page('Page not found', content),
  }
}

const frame = new Frame(
  `
main{max-width:30rem;margin-inline:auto;padding:clamp(1.5rem,6vh,4rem) clamp(1rem,4vw,2rem)}
p{margin-top:1rem}
`,
  null,
)
