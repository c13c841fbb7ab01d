// The greeting of a started gateway: where it listens, and three commands to try.

import type { Config, Endpoint, Listener } from '../../config/model/config.ts'
import type { FirstStart } from '../store/first-start.ts'
import { urlOf } from '../ports/urls.ts'
import { version } from '../system/version.ts'

export function banner(config: Config, edge: readonly Listener[], admin: Endpoint): string {
  const site = urlOf(edge[0]!)
  const host = hostToTry(config, site)
  const lines = [
    `Gatehouse ${version}`,
    '',
    ...edge.map(endpoint => `  listens on  ${urlOf(endpoint)}`),
    `  admin on    ${urlOf(admin)}  (dashboard, /metrics, /readyz, /errors)`,
    '',
    '  Try:',
    `    curl -i ${host}-H 'Accept: application/json' ${site}/`,
    `    curl -i ${host}-H 'Accept: text/markdown' ${site}/`,
    `    curl -i ${host}-H 'Accept: text/html' ${site}/cdn-cgi/error/522   # or open it in a browser`,
    '',
  ]
  return lines.join('\n')
}

/** For each provider whose key the default configuration reads from a variable, an inexpensive model. */
const modelsToTry: Readonly<Record<string, string>> = {
  openai: 'openai/gpt-4o-mini',
  anthropic: 'anthropic/claude-haiku-4-5',
}

/** Writes what a first start has created: the only time that a generated token is shown. */
export function welcome(
  { account, gateway, token, setUp }: FirstStart & { readonly setUp: string | null },
  { ai }: Config,
  edge: readonly Listener[],
): string {
  const [host] = ai.hosts
  const lines = [
    `  First start: the store was empty. The token ${token === null ? 'is the one you set' : 'is shown only once'}; it has every permission.`,
    `    account   ${account}`,
    `    gateway   ${gateway}  (calls need a token)`,
    ...(token === null ? [] : [`    token     ${token}`]),
    '',
    ...setUpLines(setUp),
  ]
  if (host === undefined) return lines.join('\n')
  const url = new URL(urlOf(edge[0]!))
  url.hostname = host
  const provider = ai.providers.find(({ name, keys }) => name in modelsToTry && keys.length > 0)?.name
  const model = modelsToTry[provider ?? 'openai']!
  return [
    ...lines,
    provider === undefined
      ? '  Next: start it with OPENAI_API_KEY or ANTHROPIC_API_KEY set, or configure another provider, then'
      : '  Next: call a model',
    `    curl ${url.origin}/client/v4/accounts/${account}/ai/v1/chat/completions \\`,
    `      -H ${token === null ? '"Authorization: Bearer $TOKEN"' : `'Authorization: Bearer ${token}'`} -H 'Content-Type: application/json' \\`,
    `      -d '{"model":"${model}","messages":[{"role":"user","content":"Hello"}]}'`,
    '',
  ].join('\n')
}

function setUpLines(setUp: string | null): readonly string[] {
  return setUp === null
    ? ['  To sign in, create a one-time link on this machine: gatehouse user invite', '']
    : [
        '  To sign in, open this link within 15 minutes; it works once (gatehouse user invite makes another):',
        `    ${setUp}`,
        '',
      ]
}

function hostToTry({ zones }: Config, site: string): string {
  const hosts = zones.flatMap(zone => zone.hosts)
  const inUrl = new URL(site).hostname.replace(/[[\]]/g, '')
  if (hosts.includes(inUrl) || zones.some(({ isDefault }) => isDefault)) return ''
  const named = hosts.find(host => !host.startsWith('*.'))
  return named === undefined ? '' : `-H 'Host: ${named}' `
}
