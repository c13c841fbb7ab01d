// An edge whose one route rewrites, for the tests of rewrites.

import type { TestContext } from 'node:test'
import type { HeaderRewrite, RewriteConfig } from '../../src/config/model/rewrite-config.ts'
import { type EdgeSettings, startEdge } from '../help/edge.ts'
import { freePort } from '../help/free-port.ts'
import { ok, type Respond, startResponder } from '../help/origin.ts'

type Headers = Readonly<Record<string, string | null>>

interface Rules {
  readonly path?: string
  readonly request?: Headers
  readonly response?: Headers
}

/** Starts an edge whose route has these rules, before an origin. */
export async function startRewriting(
  t: TestContext,
  rules: Rules,
  answer: string | Respond = ok('hi'),
  settings: EdgeSettings = {},
) {
  const origin = await startResponder(t, answer, await freePort())
  const route = { ...settings.route, rewrite: rewriteOf(rules) }
  const edge = await startEdge(t, [origin.url], { ...settings, route })
  return { edge, origin }
}

export function rewriteOf({ path, request = {}, response = {} }: Rules): RewriteConfig {
  return { path: path ?? null, requestHeaders: headersOf(request), responseHeaders: headersOf(response) }
}

function headersOf(headers: Headers): HeaderRewrite[] {
  return Object.entries(headers).map(([name, value]) => ({ name, value }))
}
