// Asks the API operations of its document, sees that each answer is as documented, and keeps what was answered. Called by openapi.test.ts.

import assert from 'node:assert/strict'
import type { startApi } from '../admin/api.ts'
import { described, flawsOf } from '../admin/openapi/openapi-document.ts'
import { account } from '../tokens/token-with.ts'

export type Api = Awaited<ReturnType<typeof startApi>>

export interface Ask {
  /** What the path's `{name}` segments stand for, beside the account. */
  readonly params?: Readonly<Record<string, string>>
  readonly query?: string
  /** An object is sent as JSON. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** The owner's unless given, none when null. */
  readonly token?: string | null
  readonly origin?: string
}

const operations = new Map(described.map(operation => [operation.id, operation]))
/** What was answered until now, as id, status and codes. */
export const answered = new Set<string>()

/** Asks an operation, whatever comes. */
export function send(api: Api, id: string, { params = {}, query = '', token, origin, ...rest }: Ask) {
  const operation = operations.get(id)!
  const segments: Record<string, string> = { account_id: account, zone: 'main', ...params }
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => segments[name]!)
  const { body, headers = {} } = rest
  return fetch(`${origin ?? api.origin}${path}${query}`, {
    method: operation.method,
    headers: {
      ...(token !== null && { authorization: `Bearer ${token ?? api.owner.value}` }),
      ...(body !== undefined && { 'content-type': operation.body?.type ?? 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: isRaw(body) ? body : JSON.stringify(body) }),
  })
}

/** Asks an operation, sees that its answer is as documented, and gives status and codes. */
export async function ask(api: Api, id: string, given: Ask) {
  const response = await send(api, id, given)
  const text = await response.text()
  assert.equal(flawsOf(operations.get(id)!, response, text), '')
  const type = response.headers.get('content-type')!
  const json = type.startsWith('application/json') ? JSON.parse(text) : null
  const mistakes: { code: number }[] = response.ok ? [] : (json?.errors ?? [])
  const codes = mistakes.map(({ code }) => code)
  note(id, response.status, response.status === 200 ? [type] : codes)
  return { status: response.status, codes, json, headers: response.headers }
}

/** Asks, and asserts status and codes. */
export async function expect(
  api: Api,
  id: string,
  good: Ask,
  status: number,
  ...codes: number[]
): Promise<void> {
  const reply = await ask(api, id, good)
  assert.deepEqual(
    [reply.status, [...new Set(reply.codes)]],
    [status, codes],
    `${id} ${JSON.stringify(good)}`,
  )
}

export const exampleOf = (id: string, i = 0) =>
  operations.get(id)!.body!.examples[i] as Record<string, unknown>

function isRaw(body: unknown): body is string | Buffer<ArrayBuffer> {
  return typeof body === 'string' || body instanceof Uint8Array
}

function note(id: string, status: number, details: readonly (string | number)[]): void {
  answered.add(`${id} ${status}`)
  for (const detail of details) answered.add(`${id} ${status} ${detail}`)
}
