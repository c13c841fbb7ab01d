// The available providers: the rows and the configuration, compiled once per snapshot.

import { memoizeLast } from '../../base/memo.ts'
import { Glob } from '../../base/text/glob.ts'
import { hasDotSegment, isPlainPath, withoutQuery } from '../../base/path/path.ts'
import { pathReadings } from '../../base/path/path-readings.ts'
import type { AiConfig, ProviderConfig } from '../../config/model/config.ts'
import { keySetting, needsKey } from '../../config/settings/ai-rules.ts'
import { refuseCall } from '../../errors/catalogue/api-faults.ts'
import type { Refusal } from '../../errors/catalogue/refusal.ts'
import { type Names, providerHint } from './hints.ts'
import { hasKnownModel } from './known-models.ts'
import {
  accountRow,
  bearer,
  customRow,
  pathsOf,
  type Endpoint,
  type Place,
  type ProviderRow,
  providerRows,
} from './provider-rows.ts'

export interface Provider extends Omit<ProviderRow, RowOnly> {
  readonly name: string
  readonly resource: string | null
  /** Whether calls with the configured identity are signed, and so need their whole body first. */
  readonly isSigned: boolean
  /** Only scheme, host and port are used for the connection; every path here includes its path. */
  readonly base: URL
  readonly keys: readonly string[]
  readonly config: ProviderConfig | null
  /** For calls without a key, if none is configured and one is required; null otherwise. */
  readonly withoutKey: Refusal | null
}

type RowOnly = 'base' | 'nativeRoot' | 'sdkRoot' | 'lacks' | 'restCredential' | 'aliases' | 'place'

/** Providers that an account adds to those of the configuration; headers are names and values in turns. */
interface OwnProviders {
  readonly base: Providers
  readonly providers: readonly { readonly config: ProviderConfig; readonly headers: readonly string[] }[]
}

export interface NativeCall {
  readonly provider: Provider
  readonly path: string
  /** Of a call that brings no credential of its own; null if a configured one may make it. */
  readonly withoutCredential: Refusal | null
}

export interface Model {
  readonly provider: Provider
  readonly name: string
}

/** Both kinds of calls may differ in the credential. */
interface Entry {
  readonly native: Provider
  readonly rest: Provider
  /** For Claude at a cloud; `rest` elsewhere. */
  readonly claude: Provider
  readonly nativeRoot: string
  readonly sdkRoot: string
  /** The last segment of the base path with its slash, if it is a version such as /v1; '' for none. */
  readonly version: string
  readonly absent: ReadonlyMap<string, Endpoint>
  /** Paths of APIs without the version that they have there, and with it. */
  readonly unversioned: ReadonlyMap<string, string>
}

/** A provider that calls without a key of their own can use. */
interface Usable {
  /** Precedes the names of its models, with a slash. */
  readonly prefix: string
  readonly entry: Entry
  /** Whether a model may be named without the provider. */
  readonly has: (model: string) => boolean
}

export class Providers {
  /** Several may share a name and a base. */
  readonly all: readonly Provider[]
  readonly #entries = new Map<string, Entry>()
  /** Of those with several places. */
  readonly #places = new Map<string, ProviderRow['place']>()
  readonly #aliases: readonly string[]
  readonly #authors = new Map<string, string>()
  readonly #usable: readonly Usable[]
  #lastNative: { readonly name: string; readonly path: string; readonly call: NativeCall } | null = null

  /**
   * By provider/model, or by the name of a model that only one usable provider has; null for others. Mostly
   * the model is the previous one.
   */
  readonly model = memoizeLast((name: string) => this.#find(name))

  constructor(
    { providers, models = [] }: Pick<AiConfig, 'providers'> & Partial<Pick<AiConfig, 'models'>>,
    own: OwnProviders | null = null,
  ) {
    if (own !== null) for (const [name, entry] of own.base.#entries) this.#entries.set(name, entry)
    this.#aliases = own === null ? models.map(({ name }) => name) : own.base.#aliases
    const configs = new Map(providers.map(config => [config.name as string, config]))
    if (own === null)
      for (const [name, row] of Object.entries(providerRows)) this.#add(name, row, configs.get(name) ?? null)
    else this.#extend(own)
    for (const config of providers) {
      const isKnown = config.name in providerRows
      if (!isKnown) this.#add(config.name, customRow(config), config)
    }
    const all = Array.from(this.#entries.values(), ({ native, rest, claude }) => [native, rest, claude])
    this.all = [...new Set(all.flat())]
    this.#usable = [...this.#entries].flatMap(([prefix, entry]) => this.#usableOf(prefix, entry))
  }

  /** Returns the models, as provider/model, that a name without a provider may mean. */
  candidates(model: string): readonly string[] {
    return this.#withModel(model).map(({ prefix }) => `${prefix}/${model}`)
  }

  /** All providers, each at its first place, by what precedes the names of their models. */
  get entries(): readonly (readonly [prefix: string, provider: Provider])[] {
    return [...this.#entries].flatMap(([prefix, { rest }]) =>
      this.#isFurtherPlace(prefix, rest) ? [] : [[prefix, rest] as const],
    )
  }

  #withModel(model: string): readonly Usable[] {
    return this.#usable.filter(({ has }) => has(model))
  }

  #usableOf(prefix: string, entry: Entry): readonly Usable[] {
    const { name, config, withoutKey } = entry.rest
    if (config === null || withoutKey !== null || this.#isFurtherPlace(prefix, entry.rest)) return []
    const patterns = config.models?.map(pattern => new Glob(pattern, { isExact: true }))
    const has = (model: string) =>
      patterns === undefined ? hasKnownModel(name, model) : patterns.some(pattern => pattern.matches(model))
    return [{ prefix, entry, has }]
  }

  /** Of several places, the first one is usual. */
  #isFurtherPlace(prefix: string, { name }: Provider): boolean {
    return prefix !== name && this.#entries.has(name)
  }

  /**
   * Refuses an unknown name or resource and an API that the provider lacks (404), and a path with dot
   * segments (400). `isChecked`: the caller had a valid token. Mostly the call is like the previous one.
   */
  native(name: string, path: string, isChecked = false): NativeCall | Refusal {
    const last = this.#lastNative
    if (last !== null && last.path === path && last.name === name) return last.call
    const call = this.#native(name, path, isChecked)
    if (!('error' in call)) this.#lastNative = { name, path, call }
    return call
  }

  #native(name: string, path: string, isChecked: boolean): NativeCall | Refusal {
    if (climbs(path)) return climbing
    let entry = this.#entries.get(name)
    let rest = path
    const place = this.#places.get(name)
    if (place === null) {
      const end = resourceEnd(path)
      entry = this.#entries.get(`${name}${path.slice(0, end)}`)
      rest = path.slice(end)
    } else if (place !== undefined) {
      const [prefix = '', named] = place.inPath.exec(path) ?? []
      if (named !== undefined) entry = this.#entries.get(`${name}/${named}`)
      if (place.isPrefix) rest = path.slice(prefix.length)
    }
    if (entry === undefined) return this.#unknown(name, isChecked)
    const { native, nativeRoot, sdkRoot, version, absent, unversioned } = entry
    const isOfSdk = sdkRoot !== '' && rest.startsWith(`${sdkRoot}/`)
    const own = isOfSdk ? rest.slice(sdkRoot.length) : rest
    const whole = nativeRoot + withVersionOnce(own, version)
    const bare = withoutQuery(whole)
    const lack = absent.get(bare)
    const versioned = unversioned.get(bare)
    return lack === undefined
      ? {
          provider: native,
          path: versioned === undefined ? whole : versioned + whole.slice(bare.length),
          withoutCredential: place ? withoutCredential(native, place, rest) : null,
        }
      : refuseCall('no_api', name, lackOf(native, lack))
  }

  /** These and those of an account, none of which replaces one of these. */
  with(own: OwnProviders['providers']): Providers {
    return new Providers({ providers: [] }, { base: this, providers: own })
  }

  #extend({ base, providers }: OwnProviders): void {
    for (const [name, place] of base.#places) this.#places.set(name, place)
    for (const [author, name] of base.#authors) this.#authors.set(author, name)
    for (const { config, headers } of providers)
      if (!this.#entries.has(config.name)) this.#add(config.name, accountRow(config, headers), config)
  }

  #find(name: string): Model | null {
    const slash = name.indexOf('/')
    const author = this.#authors.get(name.slice(0, Math.max(slash, 0)))
    if (author === undefined) return this.#only(name)
    let end = slash
    let entry = this.#entries.get(author)
    if (this.#places.has(author)) {
      const next = name.indexOf('/', slash + 1)
      const nested = next === -1 ? undefined : this.#entries.get(`${author}${name.slice(slash, next)}`)
      if (nested !== undefined) [entry, end] = [nested, next]
    }
    return entry === undefined || end === name.length - 1 ? null : modelOf(entry, name.slice(end + 1))
  }

  #only(model: string): Model | null {
    const [first, second] = this.#withModel(model)
    return first === undefined || second !== undefined ? null : modelOf(first.entry, model)
  }

  #add(name: string, row: ProviderRow, config: ProviderConfig | null): void {
    for (const author of [name, ...row.aliases]) this.#authors.set(author, name)
    if (!row.base.includes('{resource}')) {
      this.#entries.set(name, entryOf(name, row, config, row.base, null))
      return
    }
    this.#places.set(name, row.place)
    for (const resource of config?.resources ?? []) {
      const base = row.place?.everywhere[resource] ?? row.base.replace('{resource}', resource)
      const entry = entryOf(name, row, config, base, resource)
      this.#entries.set(`${name}/${resource}`, entry)
      if (row.place !== null && !this.#entries.has(name)) this.#entries.set(name, entry)
    }
  }

  #unknown(name: string, isChecked: boolean): Refusal {
    const place = this.#places.get(name)
    if (place === undefined) return refuseCall('no_provider', name, providerHint(name, this.names(isChecked)))
    const resources = isChecked ? this.#resourcesOf(name).join(', ') : ''
    const list = resources === '' ? '' : `: ${resources}`
    return place === null
      ? refuseCall('no_resource', name, list)
      : refuseCall('no_place', place.setting, name, list)
  }

  /** Only a caller with a valid token learns the configured names. */
  names(isChecked: boolean): Names {
    const all = [...this.#authors.keys()].filter(name => isChecked || !name.startsWith('custom-'))
    return isChecked
      ? { all, usable: this.#usableNames(), aliases: this.#aliases }
      : { all, usable: [], aliases: [] }
  }

  #usableNames(): readonly string[] {
    return [...new Set(this.#usable.map(({ entry }) => entry.rest.name))]
  }

  #resourcesOf(name: string): readonly string[] {
    return [...this.#entries.keys()]
      .filter(key => key.startsWith(`${name}/`))
      .map(key => key.slice(name.length + 1))
  }
}

function modelOf({ rest, claude }: Entry, written: string): Model {
  const [, model, date] = rest.claude?.isModel.exec(written) ?? []
  if (model !== undefined) return { provider: claude, name: date === undefined ? model : `${model}@${date}` }
  const isShort = rest.publisher !== '' && !written.includes('/')
  return { provider: rest, name: isShort ? rest.publisher + written : written }
}

/** With a configured key, callers call the models of one project, and nothing else at that cloud. */
function withoutCredential({ name, config }: Provider, { permitted }: Place, path: string): Refusal | null {
  const [match, project] = permitted.exec(path) ?? []
  const isOwn = match !== undefined && (project === undefined || project === config?.project)
  return isOwn ? null : refuseCall('not_for_gateway', name)
}

const climbing = refuseCall('invalid', 'The path', 'must not contain dot segments')

function entryOf(
  name: string,
  row: ProviderRow,
  config: ProviderConfig | null,
  base: string,
  resource: string | null,
): Entry {
  const url = new URL(config?.url ?? base)
  const basePath = url.pathname.replace(/\/$/, '')
  const { place: _, ...facts } = row
  const full = (path: string) => basePath + filled(path, resource, config)
  const native: Provider = {
    ...facts,
    ...(name === 'azure-openai' && config?.identity != null && bearer),
    name,
    resource,
    isSigned: config?.identity?.by.startsWith('aws_') === true,
    base: url,
    endpoints: Object.fromEntries(Object.entries(row.endpoints).map(([api, path]) => [api, full(path)])),
    claude: row.claude && { ...row.claude, path: full(row.claude.path) },
    check: basePath + row.check,
    list: row.list === null ? null : basePath + row.list,
    keys: config?.keys ?? [],
    streamsUsage: config?.streamUsage ?? row.streamsUsage,
    config,
    withoutKey: withoutKey(name, config),
  }
  const rest = row.restCredential === null ? native : { ...native, ...row.restCredential }
  const claude: Provider =
    native.claude === null
      ? rest
      : {
          ...rest,
          dialect: 'anthropic',
          endpoints: { messages: native.claude.path },
          streamsUsage: false,
        }
  const nativeRoot = basePath + row.nativeRoot
  const version = versionAtEnd.exec(nativeRoot)?.[0] ?? ''
  return {
    native,
    rest,
    claude,
    nativeRoot,
    sdkRoot: row.sdkRoot,
    version,
    absent: absentOf(row, config, nativeRoot),
    unversioned: unversionedOf(native, nativeRoot),
  }
}

function unversionedOf({ endpoints }: Provider, nativeRoot: string): Map<string, string> {
  const all = Object.entries(endpoints).map(([api, path]) => {
    const [short, versioned] = pathsOf(api as Endpoint)
    return path === nativeRoot + versioned ? [[nativeRoot + short, path] as const] : []
  })
  return new Map(all.flat())
}

function filled(path: string, resource: string | null, config: ProviderConfig | null): string {
  return path.replace('{resource}', resource ?? '').replace('{project}', config?.project ?? '')
}

/** The known facts of a provider hold at its own address; configured ones, wherever it is. */
function absentOf(
  row: ProviderRow,
  config: ProviderConfig | null,
  nativeRoot: string,
): Map<string, Endpoint> {
  const isElsewhere = config !== null && config.url !== null && config.name in providerRows
  const lacks = isElsewhere ? [] : row.lacks
  return new Map(lacks.flatMap(api => pathsOf(api).map(path => [nativeRoot + path, api] as const)))
}

/** Names the setting that lists the APIs of a custom provider. */
export function lackOf({ name }: Pick<Provider, 'name'>, api: Endpoint): string {
  const lack = `has no known API for ${api}`
  return name in providerRows ? lack : `${lack}: if it has one, list it in ai.providers.${name}.apis`
}

const versionAtEnd = /\/v\d+(?:(?:alpha|beta)\d*)?$/
const versionTwice = /^(\/v\d+(?:(?:alpha|beta)\d*)?)(?:\1)+(?=\/)/

/** Removes a version that the base already has, or that a caller's base URL and its SDK both write. */
function withVersionOnce(path: string, version: string): string {
  if (path.charCodeAt(1) !== letterV) return path
  const once = path.replace(versionTwice, '$1')
  return version !== '' && once.startsWith(`${version}/`) ? once.slice(version.length) : once
}

const letterV = 0x76

function withoutKey(name: string, config: ProviderConfig | null): Refusal | null {
  const { url = null, keys = [], keyVariables = [], identity = null } = config ?? {}
  if (keys.length > 0 || identity !== null || !needsKey(name, url)) return null
  return refuseCall('no_key', name, keySetting(name, keyVariables))
}

function resourceEnd(path: string): number {
  for (let i = 1; i < path.length; i++) if (path[i] === '/' || path[i] === '?') return i
  return path.length
}

/** Whether an origin may read dot segments in a path. */
function climbs(path: string): boolean {
  if (isPlainPath(path)) return false
  return pathReadings(path)?.some(hasDotSegment) ?? true
}
