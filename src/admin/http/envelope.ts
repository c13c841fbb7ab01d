// The envelope of the management API, around every JSON response.

import { nextTurn } from '../../base/turns/turns.ts'
import { type ApiFaultName, apiFaults, fault, type WordsOf } from '../../errors/catalogue/api-faults.ts'
import type { Fault } from '../../errors/catalogue/refusal.ts'

export interface ApiResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** The rest of a large body, in parts that are each written in a turn. */
  readonly rest?: readonly string[]
  /** The end of the body, written as it is read; when it fails, the response is cut off. */
  readonly stream?: AsyncIterable<string>
}

interface Window {
  readonly page: number
  readonly perPage: number
  readonly total: number
  readonly cursor?: string | null
}

/** Of what is no error, but should be known. */
const noticeCode = 10100

export function success(
  result: unknown,
  headers: ApiResponse['headers'] = {},
  notices: readonly string[] = [],
): ApiResponse {
  const messages = notices.map(message => ({ code: noticeCode, message }))
  return wrap(200, { success: true, errors: [], messages, result }, headers)
}

export function list(
  result: readonly unknown[],
  { page, perPage, total }: Window,
  headers: ApiResponse['headers'] = {},
): ApiResponse {
  const result_info = infoOf({ page, perPage, total }, result.length)
  return wrap(200, { success: true, errors: [], messages: [], result, result_info }, headers)
}

/** Characters that are written in one turn. */
const partSize = 64 * 1024

/** Like `list`, for many or large items: they are converted and written in several turns. */
export function listInTurns<T>(
  items: readonly T[],
  view: (item: T) => unknown,
  window: Window,
  headers: ApiResponse['headers'] = {},
): Promise<ApiResponse> {
  const closing = `],"result_info":${JSON.stringify(infoOf(window, items.length))}}`
  return inTurns(['{"success":true,"errors":[],"messages":[],"result":[', items, closing], view, headers)
}

/** Like `listInTurns`, for a part of a list of unknown length; `info` says what is known of it. */
export function pieceInTurns<T>(
  items: readonly T[],
  view: (item: T) => unknown,
  info: Readonly<Record<string, unknown>>,
): Promise<ApiResponse> {
  const closing = `],"result_info":${JSON.stringify(info)}}`
  return inTurns(['{"success":true,"errors":[],"messages":[],"result":[', items, closing], view, {})
}

/** Wraps a result whose member `name` is a list of many items, converted and written as in `listInTurns`. */
export function successInTurns<T>(
  result: Readonly<Record<string, unknown>>,
  name: string,
  items: readonly T[],
  view: (item: T) => unknown,
): Promise<ApiResponse> {
  const closing = ']}}'
  const { body } = success({ ...result, [name]: [] })
  return inTurns([body.slice(0, -closing.length), items, closing], view, {})
}

async function inTurns<T>(
  [opening, items, closing]: readonly [opening: string, items: readonly T[], closing: string],
  view: (item: T) => unknown,
  headers: ApiResponse['headers'],
): Promise<ApiResponse> {
  const parts: string[] = []
  let part = opening
  for (const [at, item] of items.entries()) {
    part += `${at > 0 ? ',' : ''}${JSON.stringify(view(item))}`
    if (part.length < partSize) continue
    parts.push(part)
    part = ''
    await nextTurn()
  }
  parts.push(part + closing)
  const [body, ...rest] = parts
  return { status: 200, headers: { 'content-type': 'application/json', ...headers }, body: body!, rest }
}

function infoOf({ page, perPage, total, cursor = null }: Window, count: number) {
  const info = { page, per_page: perPage, count, total_count: total }
  return cursor === null ? info : { ...info, cursor }
}

export function failure<Name extends ApiFaultName>(name: Name, ...words: WordsOf<Name>): ApiResponse {
  return failures([fault(name, ...words)], apiFaults[name].status)
}

export function failures(faults: readonly Fault[], status = 400): ApiResponse {
  const errors = faults.map(({ code, message, pointer }) =>
    pointer === null ? { code, message } : { code, message, source: { pointer } },
  )
  return wrap(status, { success: false, errors, messages: [], result: null })
}

export function withHeaders(response: ApiResponse, headers: ApiResponse['headers']): ApiResponse {
  return { ...response, headers: { ...response.headers, ...headers } }
}

function wrap(status: number, content: object, headers: ApiResponse['headers'] = {}): ApiResponse {
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(content),
  }
}
