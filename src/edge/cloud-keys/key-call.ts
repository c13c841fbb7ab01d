// A call to a service that makes keys: bounded in time and size, without redirects, through the proxy.

import { parseObject } from '../../base/text/json.ts'
import type { ProxyConfig } from '../../config/model/pool-config.ts'

const { getCACertificates } = process.getBuiltinModule('node:tls')

export interface KeyCall {
  readonly url: string
  readonly method?: 'GET' | 'POST' | 'PUT'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

export interface KeyResponse {
  readonly host: string
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

/** Rejects with a `KeyFailure`. */
export type SendKeyCall = (call: KeyCall, means?: 'proxied' | 'direct') => Promise<KeyResponse>

/** Why no key could be made, without anything secret. */
export class KeyFailure extends Error {
  /** Ms for which the service asks to wait; 0 if it does not. */
  readonly wait: number

  constructor(reason: string, wait = 0) {
    super(reason)
    this.wait = wait
  }
}

interface KeyCallMeans {
  /** Null for a direct connection. */
  readonly proxyTo: (url: URL) => ProxyConfig | null
  /** PEM of authorities that are trusted besides those of Node. */
  readonly ca: string | null
  readonly timeout?: number
}

const maxSize = 64 * 1024

export function keyCalls({ proxyTo, ca, timeout = 10_000 }: KeyCallMeans): SendKeyCall {
  return async ({ url, method = 'GET', headers = {}, body }, means = 'proxied') => {
    // It takes 4 MiB, and few configurations need it.
    const { Agent, ProxyAgent, request } = await import('undici')
    const target = new URL(url)
    const { host } = target
    const proxy = means === 'direct' ? null : proxyTo(target)
    const tls = ca === null ? {} : { ca: [...getCACertificates('default'), ca] }
    const bounds = { maxResponseSize: maxSize, headersTimeout: timeout, bodyTimeout: timeout }
    const dispatcher =
      proxy === null
        ? new Agent({ ...bounds, connect: { ...tls, timeout } })
        : new ProxyAgent({
            ...bounds,
            uri: uriOf(proxy),
            requestTls: { ...tls, timeout },
            proxyTls: { ...(proxy.ca !== null && { ca: proxy.ca }), timeout },
            ...(proxy.authorization !== null && { token: proxy.authorization }),
          })
    try {
      const signal = AbortSignal.timeout(timeout)
      const response = await request(url, { dispatcher, method, headers, body: body ?? null, signal })
      const text = await response.body.text()
      return { host, status: response.statusCode, headers: response.headers, text }
    } catch (error) {
      throw new KeyFailure(`${host} did not respond (${codeOf(error)})`)
    } finally {
      dispatcher.destroy().catch(() => {})
    }
  }
}

/** Returns the part of a response that has the key; throws a `KeyFailure` for any other response. */
export function membersOf(response: KeyResponse): Record<string, unknown> {
  const { host, status, text, headers } = response
  const members = parseObject(text)
  if (status !== 200) {
    const { Code: inner } = (members?.Error ?? {}) as { readonly Code?: unknown }
    const code = [members?.error, members?.Code, members?.code, inner].find(isCode)
    const aadsts = /AADSTS\d+/.exec(text)?.[0]
    const words = [code, aadsts].filter(word => word !== undefined).join(' ')
    throw new KeyFailure(`${host} responded ${status}${words === '' ? '' : `: ${words}`}`, waitIn(headers))
  }
  if (members === null) throw new KeyFailure(`${host} did not respond with a JSON object`)
  return members
}

/** Ms by which the clock of a service is ahead; 0 if it differs little. */
export function skewOf({ headers }: Pick<KeyResponse, 'headers'>, now: number): number {
  const skew = Date.parse(String(headers.date)) - now
  return Math.abs(skew) > tolerance ? skew : 0
}

/** Ms by which the clock of this machine may differ before the other one is used. */
const tolerance = 30_000

function isCode(value: unknown): value is string {
  return typeof value === 'string' && /^[\w.-]{1,64}$/.test(value)
}

function waitIn(headers: KeyResponse['headers']): number {
  const seconds = headers['retry-after']
  return typeof seconds === 'string' && /^\d{1,4}$/.test(seconds) ? Number(seconds) * 1000 : 0
}

function uriOf({ protocol, host, port }: ProxyConfig): string {
  return `${protocol}://${host.includes(':') ? `[${host}]` : host}:${port}`
}

function codeOf(error: unknown): string {
  const { code, name, cause } = error as { code?: unknown; name?: unknown; cause?: { code?: unknown } }
  if (name === 'TimeoutError' || name === 'AbortError') return 'timed out'
  return [code, cause?.code].find(isCode) ?? 'connection failed'
}
