// Warnings about settings that are valid but probably not intended, each with its consequence.

import { isLoopback } from '../shape/host-rules.ts'
import type { Findings } from '../file/mistake.ts'
import { endFlaw, keySetting, needsKey } from '../settings/ai-rules.ts'
import type { OriginSettings } from '../settings/pool-settings.ts'
import type { ProviderSettings, Settings, ZoneSettings } from '../settings/schema.ts'
import type { Placed } from '../shape/shape.ts'
import { refersOtherwise } from '../shape/value-hints.ts'
import type { TlsSettings } from '../settings/tls-settings.ts'
import { warnOfRules } from './warn-of-rules.ts'

/** Warns about each setting that is valid but harmful. */
export function warn(settings: Settings, findings: Findings): void {
  warnOfOpenTrust(settings, findings)
  for (const pool of settings.pools.values()) {
    warnOfUnverified(pool?.origins ?? [], 'origin', findings)
    warnOfRepeats(pool?.origins ?? [], findings)
  }
  warnOfUnserved(settings, findings)
  warnOfProviders(settings.ai, findings)
  warnOfModels(settings.ai, findings)
  warnOfRules(settings, findings)
  warnOfOpenSignIn(settings, findings)
  warnOfLocalIssuer(settings, findings)
}

function warnOfOpenTrust({ trusted_proxies: networks, client_address }: Settings, findings: Findings): void {
  const field = client_address === 'forwarded' ? 'Forwarded' : 'X-Forwarded-For'
  for (const network of networks) {
    if (!network.value.endsWith('/0')) continue
    findings.warn(network, `every address is trusted, so any client can claim any address in ${field}`)
  }
}

function warnOfUnverified(servers: readonly Placed<TlsSettings>[], kind: string, findings: Findings): void {
  for (const server of servers) {
    if (server.value.verify) continue
    findings.warn(
      server,
      `verify is off: anyone between the gateway and this ${kind} can read and change the traffic`,
    )
  }
}

function warnOfRepeats(origins: readonly Placed<OriginSettings>[], findings: Findings): void {
  const seen = new Map<string, Placed<OriginSettings>>()
  for (const origin of origins) {
    const url = origin.value.url?.url ?? ''
    const first = seen.get(url)
    if (first === undefined) seen.set(url, origin)
    else
      findings.warn(origin, `duplicates ${first.path} on line ${first.line}, so this origin gets two turns`)
  }
}

function warnOfUnserved({ zones, ai }: Settings, findings: Findings): void {
  if (zones?.value.length === 0 && ai.hosts.length === 0) {
    findings.warn(zones, 'no zone is configured, so every request is refused with error 1001 or 1003')
  }
  for (const route of zones?.value.flatMap(zone => zone.value.routes) ?? []) {
    const { path } = route.value
    if (path?.value.endsWith('*'))
      findings.warn(path, 'the * is no wildcard: a route is for its path and all below it, so leave it out')
    if (route.value.pool !== null) continue
    findings.warn(route, 'the route has no pool, so every request is refused with error 1004')
  }
}

function warnOfProviders({ hosts, providers }: Settings['ai'], findings: Findings): void {
  const read = [...providers].flatMap(([name, provider]) => (provider === null ? [] : { name, provider }))
  warnOfUnverified(
    read.map(({ provider }) => provider),
    'provider',
    findings,
  )
  for (const { name, provider } of read) {
    const { resources } = provider.value
    if (hosts.length === 0 && !findings.concern('ai.hosts')) {
      findings.warn(provider, 'ai.hosts is empty, so no request can reach this provider')
    }
    if (sendsKeysInTheClear(provider.value)) {
      findings.warn(
        provider,
        'its keys are sent over plain http, where anyone on the network path can read them',
      )
    }
    const { url, keys } = provider.value
    if (keys.value.some(key => key !== null && refersOtherwise(key)))
      findings.warn(provider, `a key looks like a variable, but is sent as it is: write \${NAME}`)
    const flaw = url === null ? null : endFlaw(url)
    if (flaw !== null) findings.warn(provider, `its url ${flaw}`)
    // A provider without the setting is for callers with keys of their own.
    const isEmpty = keys.value.length > 0 && keys.value.every(key => key === null)
    if (isEmpty && needsKey(name, url)) {
      const setting = keySetting(name, keys.variables)
      findings.warn(
        provider,
        `it has no key, so calls that bring none of their own are refused: set ${setting}`,
      )
    }
    if (name === 'azure-openai' && (resources?.value ?? []).length === 0) {
      findings.warn(provider, 'it has no resources, so every request for it is refused')
    }
  }
}

/** Warns about models that no call can reach, since their provider has no key. */
function warnOfModels({ models, providers }: Settings['ai'], findings: Findings): void {
  for (const { value } of [...models.values()].flatMap(alias => alias?.value ?? [])) {
    if (value.model === null || !value.model.value.includes('/')) continue
    const [name] = value.model.value.split('/') as [string]
    const { url = null, keys = null, entra, service_account: account, aws } = providers.get(name)?.value ?? {}
    if (
      !needsKey(name, url) ||
      (entra ?? account ?? aws ?? null) !== null ||
      keys?.value.some(key => key !== null)
    )
      continue
    const setting = keySetting(name, keys?.variables ?? [])
    findings.warn(value.model, `calls pass this model over, since its provider has no key: set ${setting}`)
  }
}

function sendsKeysInTheClear({ url, keys, entra, service_account: account }: ProviderSettings): boolean {
  if (url === null || !url.startsWith('http:')) return false
  const hasKey = keys.value.some(key => key !== null) || entra !== null || account !== null
  return hasKey && !isLoopback(new URL(url).hostname.replace(/^\[|\]$/g, ''))
}

/** Whether a condition holds for all cannot be decided. */
function warnOfOpenSignIn({ zones, people }: Settings, findings: Findings): void {
  if (people.sign_up.value !== 'open') return
  for (const { sign_in: signIn } of (zones?.value ?? []).flatMap(({ value }) => gatesOf(value))) {
    if (signIn === null) continue
    const { members_of: accounts, email_domains: domains, when } = signIn.value
    if (accounts.length > 0 || domains.length > 0 || when !== null || findings.concern(signIn.path)) continue
    findings.warn(
      signIn,
      'people.sign_up is open, so anyone can become a user and pass: set members_of, email_domains or when',
    )
  }
}

function gatesOf({ protect, routes }: ZoneSettings) {
  const lists = [protect, ...routes.map(({ value }) => value.protect)]
  return lists.flatMap(gates => gates?.value ?? []).map(({ value }) => value)
}

/** Warns once of each zone: without an issuer, the side port is named, which others cannot reach. */
function warnOfLocalIssuer({ zones, oauth, dashboard }: Settings, findings: Findings): void {
  if (oauth.issuer !== null) return
  for (const zone of zones?.value ?? []) {
    if (zone.value.hosts.every(({ value }) => isOfThisMachine(value))) continue
    const gates = gatesOf(zone.value)
    const signIn = dashboard.host === null ? gates.find(({ sign_in: gate }) => gate !== null)?.sign_in : null
    const token = gates.find(({ token }) => (token?.value.scopes ?? null) !== null)?.token
    if (signIn)
      findings.warn(signIn, 'without oauth.issuer, people on other machines cannot sign in: set oauth.issuer')
    else if (token)
      findings.warn(token, 'without oauth.issuer, apps on other machines cannot get tokens: set oauth.issuer')
  }
}

/** Browsers look for names below localhost on their own machine. */
function isOfThisMachine(host: string): boolean {
  return isLoopback(host) || host.endsWith('.localhost')
}
