// A person with a browser as a program: keeps cookies for each host, follows redirects and pages that lead on, and sends forms.

import { request } from 'node:http'
import { text } from 'node:stream/consumers'

export interface Shown {
  readonly url: URL
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

export class Jar {
  /** By host, without ports, as browsers keep them (RFC 6265 section 8.5). */
  readonly cookies = new Map<string, Map<string, string>>()
  /** All addresses that were asked for. */
  readonly trail: string[] = []

  /** Asks once. */
  async ask(
    to: string | URL,
    {
      method = 'GET',
      headers = {},
      body,
    }: { method?: string; headers?: Record<string, string>; body?: string } = {},
  ): Promise<Shown> {
    const url = new URL(to)
    this.trail.push(url.href)
    const own = this.cookiesOf(url)
    const cookie = [...own].map(([name, value]) => `${name}=${value}`).join('; ')
    const all = { accept: 'text/html', ...(cookie !== '' && { cookie }), ...headers }
    const sent = request(url, {
      method,
      headers: all,
      agent: false,
      lookup: (_, options, done) => {
        if ('all' in options && options.all)
          (done as unknown as (error: null, all: object[]) => void)(null, [
            { address: '127.0.0.1', family: 4 },
          ])
        else done(null, '127.0.0.1', 4)
      },
    })
    sent.end(body)
    const response = await new Promise<import('node:http').IncomingMessage>((resolve, reject) =>
      sent.once('response', resolve).once('error', reject),
    )
    for (const line of response.headers['set-cookie'] ?? []) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!
      if (/max-age=0/i.test(line)) own.delete(name!)
      else own.set(name!, value!)
    }
    return { url, status: response.statusCode!, headers: response.headers, body: await text(response) }
  }

  /** Asks, and goes on as a browser would, up to 20 times. */
  async open(to: string | URL, options?: Parameters<Jar['ask']>[1]): Promise<Shown> {
    let shown = await this.ask(to, options)
    for (let i = 0; i < 20; i++) {
      const refresh = /^0;url=(.*)$/.exec((shown.headers.refresh as string | undefined) ?? '')?.[1]
      const next = (shown.headers.location as string | undefined) ?? refresh
      if (next === undefined) return shown
      shown = await this.ask(new URL(next, shown.url))
    }
    throw new Error(`a circle: ${this.trail.slice(-6).join('\n')}`)
  }

  /** Sends the form of a page to its action, filled in. */
  send({ url, body }: Shown, fields: Readonly<Record<string, string>> = {}): Promise<Shown> {
    const [, action, form] = /<form method="post" action="([^"]*)"[^>]*>([\s\S]*?)<\/form>/.exec(body)!
    const hidden = [...form!.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)]
    const all = { ...Object.fromEntries(hidden.map(([, name, value]) => [name!, plain(value!)])), ...fields }
    const origin = url.origin
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      origin,
      'sec-fetch-site': 'same-origin',
    }
    const query = new URLSearchParams(all).toString()
    return this.open(new URL(plain(action!), url), { method: 'POST', headers, body: query })
  }

  cookiesOf({ hostname }: URL): Map<string, string> {
    const own = this.cookies.get(hostname) ?? new Map<string, string>()
    this.cookies.set(hostname, own)
    return own
  }
}

function plain(text: string): string {
  return text.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
}
