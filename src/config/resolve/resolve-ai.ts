// The AI settings: which providers may be called, and the rules that involve several settings.

import type { AiConfig, ProviderConfig } from '../model/config.ts'
import { type Findings, stepInto } from '../file/mistake.ts'
import { refuseRepeats } from '../shape/name-checks.ts'
import { usualTransport } from '../model/pool-config.ts'
import type { ProviderSettings, Settings } from '../settings/schema.ts'
import type { Placed } from '../shape/shape.ts'
import { resolveCloud } from './resolve-cloud.ts'
import { resolveFailover, resolveModels } from './resolve-failover.ts'
import { withVersion } from '../settings/ai-rules.ts'
import { resolveProxy } from '../settings/proxy-settings.ts'
import { resolveLogExport } from '../settings/ai/log-export-settings.ts'
import { resolveReuse } from '../settings/ai/reuse-settings.ts'
import { resolveTls } from '../settings/tls-settings.ts'
import { refuseOtherScheme, resolveTransport } from '../settings/transport-settings.ts'

/** Returns the AI configuration from its settings. */
export function resolveAi(settings: Settings['ai'], findings: Findings): AiConfig {
  const {
    hosts,
    default_account: defaultAccount,
    custom_providers: { allow_networks: customNetworks },
    webhooks: { allow_networks: webhookNetworks },
    cors: { origins },
    body,
    upload,
    reuse,
    timeouts,
    proxy,
    no_proxy: noProxy,
    providers,
    models,
    failover,
    prices,
    price_list: priceList,
    log_export: logExport,
  } = settings
  const resolved = [...providers].flatMap(([name, provider]) =>
    provider === null ? [] : resolveProvider(name, provider, findings),
  )
  return {
    hosts: hosts.map(({ value }) => value),
    defaultAccount,
    customNetworks,
    webhookNetworks,
    corsOrigins: resolveOrigins(origins, findings),
    bodyLimit: body,
    uploadLimit: upload,
    reuse: resolveReuse(reuse, findings),
    timeouts,
    proxy: resolveProxy(proxy),
    noProxy,
    providers: resolved,
    models: resolveModels(models, resolved, findings),
    failover: resolveFailover(failover),
    priceList,
    logExport: logExport && resolveLogExport(logExport, findings),
    prices: [...prices].flatMap(([model, price]) => {
      const { input = null, output = null } = price ?? {}
      if (price === null || input === null || output === null) return []
      const { cache_read: cacheRead, cache_write: cacheWrite, cache_write_1h: cacheWriteLong } = price
      return { model, input, output, cacheRead, cacheWrite, cacheWriteLong }
    }),
  }
}

function resolveOrigins(origins: Settings['ai']['cors']['origins'], findings: Findings): readonly string[] {
  refuseRepeats(origins, 'ai.cors.origins cannot list an origin twice', findings)
  const all = origins.find(({ value }) => value === '*')
  if (all !== undefined && origins.length > 1)
    findings.mistake(all, '* cannot be combined with other origins')
  return origins.map(({ value }) => value)
}

function resolveProvider(
  name: string,
  provider: Placed<ProviderSettings>,
  findings: Findings,
): ProviderConfig {
  const { url, add_version: addVersion, keys, speaks, apis, proxy } = provider.value
  const { stream_usage: streamUsage } = provider.value
  refuseMisfits(name, provider, findings)
  const isPlain = url === null ? name === 'ollama' : url.startsWith('http:')
  const format = speaks?.value ?? (name === 'anthropic' ? 'anthropic' : 'openai')
  const transport = resolveTransport(provider.value, findings)
  refuseOtherScheme({ ...transport, isPlain }, { ...provider, setting: version => version }, findings)
  return {
    name: name as ProviderConfig['name'],
    url: url === null || addVersion?.value === false ? url : withVersion(name, format, url),
    keys: keys.value.flatMap(key => key ?? []),
    keySources: keys.sources.filter((_, i) => keys.value[i] != null),
    keyVariables: keys.variables,
    speaks: format,
    apis: apis?.value ?? null,
    models: provider.value.models,
    ...resolveCloud(name, provider, findings),
    streamUsage: streamUsage?.value ?? null,
    tls: resolveTls(provider.value, { ...provider, isPlain }, findings),
    transport: { ...usualTransport, ...transport },
    proxy: proxy === null ? null : (resolveProxy(proxy.value) ?? 'off'),
  }
}

function refuseMisfits(name: string, provider: Placed<ProviderSettings>, findings: Findings): void {
  const { url, add_version: addVersion, speaks, apis } = provider.value
  const { stream_usage: streamUsage } = provider.value
  const isCustom = name.startsWith('custom-')
  const isUrlGiven = url !== null || findings.concern(stepInto(provider.path, 'url'))
  if (isCustom && !isUrlGiven) findings.flaw(provider, 'must have a url: custom providers have no default')
  if (!isCustom && speaks !== null) {
    findings.flaw(speaks, 'is only for custom- providers: the others have a fixed format')
  }
  if (!isCustom && apis !== null)
    findings.flaw(apis, 'is only for custom- providers: which APIs the others have is known')
  if (addVersion !== null && (!isCustom || speaks?.value === 'anthropic'))
    findings.flaw(addVersion, 'is only for custom- providers of Chat Completions')
  if (streamUsage !== null && (name === 'anthropic' || speaks?.value === 'anthropic'))
    findings.flaw(
      streamUsage,
      'is only for providers of Chat Completions: the streams of Messages always report their usage',
    )
}
