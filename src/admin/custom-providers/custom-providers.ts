// Handlers of the providers that an account adds.

import { auditOf, type Resource } from '../../store/records/audit-entry.ts'
import type { CustomProvider } from '../../store/records/custom-provider.ts'
import type { Api, Call } from '../api/api-types.ts'
import { type ApiResponse, failure, failures, success } from '../http/envelope.ts'
import { Parameters } from '../http/query.ts'
import { membersSet, updateOf } from '../records/audit.ts'
import { add, drop, isoTime, pageOf, revise } from '../records/record-handlers.ts'
import { isSlug, readCustomProvider, readCustomProviderChange } from './body.ts'

const maxCustomProviders = 50

export async function createCustomProvider(call: Call, { store, providers, log }: Api): Promise<ApiResponse> {
  const { account, body, now } = call
  const read = readCustomProvider(body)
  if (!('id' in read)) return failures(read)
  if (providers.hasModel(`custom-${read.id}/any`)) return taken
  const { total } = await store.customProviders.list(account, { offset: 0, limit: 1 })
  if (total >= maxCustomProviders) return failure('too_many_custom_providers', maxCustomProviders)
  const provider: CustomProvider = { account, ...read, createdAt: now, modifiedAt: now }
  const audit = auditOf(call, 'create', resourceOf(provider), membersSet(body))
  return (await add(store.customProviders, provider, { audit }, log)) ? success(viewOf(provider)) : taken
}

export async function listCustomProviders({ account, query }: Call, { store }: Api): Promise<ApiResponse> {
  const parameters = new Parameters(query)
  const page = parameters.page()
  const enable = parameters.choice('enable', ['', 'true', 'false'])
  const beta = parameters.choice('beta', ['', 'true', 'false'])
  if (parameters.faults.length > 0) return failures(parameters.faults)
  const search = (query.get('search') ?? '').toLowerCase()
  const holds = ({ id, name, isEnabled, notes }: CustomProvider) =>
    (enable === '' || String(isEnabled) === enable) &&
    (beta === '' || String(notes.beta ?? false) === beta) &&
    (search === '' || id.includes(search) || name.toLowerCase().includes(search))
  const createdAt = ({ createdAt }: CustomProvider) => createdAt
  return pageOf(store.customProviders, account, page, { createdAt, view: viewOf, holds })
}

export async function getCustomProvider(call: Call, { store }: Api): Promise<ApiResponse> {
  const provider = await find(call, store)
  return provider === null ? noProvider : success(viewOf(provider))
}

/** Changes all but the slug and the address. */
export async function updateCustomProvider(call: Call, { store, log }: Api): Promise<ApiResponse> {
  const read = readCustomProviderChange(call.body)
  if (Array.isArray(read)) return failures(read)
  const id = call.params.slug!
  if (!isSlug(id)) return noProvider
  const change = (current: CustomProvider) => {
    const { notes, ...others } = read as Partial<CustomProvider>
    const changed = { ...current, ...others, notes: { ...current.notes, ...notes } }
    const audit = updateOf(call, resourceOf(current), viewOf(current), viewOf(changed))
    return { record: { ...changed, modifiedAt: call.now }, audit }
  }
  const revised = (await revise(store.customProviders, call.account, id, change, log)) ?? noProvider
  return 'record' in revised ? success(viewOf(revised.record)) : revised
}

export async function deleteCustomProvider(call: Call, { store, log }: Api): Promise<ApiResponse> {
  const provider = await find(call, store)
  if (provider === null) return noProvider
  const audit = auditOf(call, 'delete', resourceOf(provider))
  return (await drop(store.customProviders, audit, log)) ? success(viewOf(provider)) : noProvider
}

const noProvider = failure('no_such', 'Custom provider')
const taken = failure('custom_provider_taken')

async function find({ account, params }: Call, { customProviders }: Api['store']) {
  const id = params.slug!
  return isSlug(id) ? ((await customProviders.get(account, id))?.record ?? null) : null
}

function resourceOf({ id, name }: CustomProvider): Resource {
  return { resourceKind: 'custom_provider', resource: id, resourceName: name }
}

/** Shows a provider in the shape of the published clients. */
function viewOf({ id, name, url, isEnabled, headers, notes, createdAt, modifiedAt }: CustomProvider) {
  const fields: [string, string][] = []
  for (let i = 0; i < headers.length; i += 2) fields.push([headers[i]!, headers[i + 1]!])
  return {
    id,
    slug: id,
    name,
    base_url: url,
    enable: isEnabled,
    headers: fields.length === 0 ? '' : JSON.stringify(Object.fromEntries(fields)),
    ...notes,
    created_at: isoTime(createdAt),
    modified_at: isoTime(modifiedAt),
  }
}
