// Errors for clients of MCP servers: in JSON-RPC, with the record as its data.

import { errorRows } from '../catalogue/catalogue.ts'
import type { Occasion } from '../catalogue/problem.ts'
import type { Refusal } from '../catalogue/refusal.ts'
import { asciiJson, inAscii } from '../render/json.ts'
import { render } from '../render/render.ts'
import { type Audience, type Options, written } from './audience.ts'
import { composeEvent, forms, responseWith } from './people.ts'

/** Of an error for which the protocol has no code. */
const serverError = -32_000

export const mcpClients: Audience = {
  kind: 'mcp',
  formatOf: () => 'json',
  compose(refusal, occasion, options) {
    const content = { type: 'application/json', policy: null, body: messageOf(refusal, occasion, options) }
    return written(responseWith(content, refusal, occasion))
  },
  /** Without an id, nobody waits for a response. */
  composeEvent(refusal, occasion, options) {
    if (occasion.messageId == null) return composeEvent(refusal, occasion, options)
    return `data: ${messageOf(refusal, occasion, options)}\n\n`
  },
  composeTrailers: () => null,
}

function messageOf(
  refusal: Refusal,
  occasion: Occasion,
  { documentation }: Pick<Options, 'documentation'>,
): string {
  const { code = serverError, message = null, data } = refusal.faults[0] ?? {}
  const text = message ?? refusal.wording?.heading ?? errorRows[refusal.error].title
  const record = render(forms.json, refusal, occasion, documentation)
  const all = data === undefined ? record : `${record.slice(0, -1)},${asciiJson(data).slice(1)}`
  const id = occasion.messageId == null ? null : inAscii(occasion.messageId)
  return `{"jsonrpc":"2.0","id":${id},"error":{"code":${code},"message":${asciiJson(text)},"data":${all}}}`
}
