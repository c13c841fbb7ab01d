// Handlers of AI providers. Only the oldest account sees sources of keys, addresses and codes of failures.

import type { SecretSource } from '../../config/model/config.ts'
import { permits } from '../../permissions/permit.ts'
import type { Token } from '../../store/records/records.ts'
import { type ApiResponse, failure, list, success } from '../http/envelope.ts'
import { isoTime } from '../records/record-handlers.ts'
import type { Api, Call } from '../api/api-types.ts'
import { oldestOf } from '../api/zone-owner.ts'
import { type CallsOfProvider, callsOf } from './calls.ts'
import type { KeyFact, ProviderFact } from '../facts/provider-facts.ts'
import { reasonOf, stateOf, verdictOf } from './state.ts'

export async function listProviders(call: Call, api: Api): Promise<ApiResponse> {
  const { account, caller, now } = call
  const [facts, calls, isOperator] = await Promise.all([
    api.providers.all(),
    callsOf(account, api, now),
    seesConfiguration(account, caller, api),
  ])
  const shown = facts.map(fact =>
    view(fact, calls.byProvider.get(fact.name) ?? calls.none, { isOperator, isComplete: calls.isComplete }),
  )
  return list(shown, { page: 1, perPage: Math.max(1, shown.length), total: shown.length })
}

export async function testProvider(call: Call, api: Api): Promise<ApiResponse> {
  const { account, caller, params } = call
  const id = params.provider_id!
  const test = await api.providers.test(id)
  if (test === null) return failure('no_such', 'Provider')
  const isOperator = await seesConfiguration(account, caller, api)
  const path = isOperator ? test.basePath + test.path : test.path
  const results = test.results.map(result => {
    const { key, status, error, code, duration } = result
    return {
      key,
      ...verdictOf(isOperator ? result : { ...result, code: '' }, path),
      status,
      error,
      ...(isOperator && code !== '' && { code }),
      duration: Math.round(duration),
    }
  })
  const outcomes = results.map(({ outcome }) => outcome)
  api.log.info({ provider: id, account, actor: caller.id, outcomes }, 'provider tested')
  return success({ provider_id: id, tested_at: isoTime(test.at), path, results })
}

async function seesConfiguration(account: string, caller: Token, { store }: Api): Promise<boolean> {
  return permits(caller, 'Metrics Read', account) && (await oldestOf(store.accounts)) === account
}

function view(
  fact: ProviderFact,
  calls: CallsOfProvider,
  { isOperator, isComplete }: { readonly isOperator: boolean; readonly isComplete: boolean },
) {
  const { id, name, resource, isConfigured, needsKey, origin, keys, processes, pricedModels } = fact
  return {
    id,
    name,
    resource,
    is_configured: isConfigured,
    needs_key: needsKey,
    ...(isOperator && { origin }),
    state: stateOf(fact),
    processes,
    last_call_at: timeOf(fact.lastAt),
    last_success_at: timeOf(fact.goodAt),
    last_failure: failureOf(fact, isOperator),
    keys: keys.map((key, i) => viewKey(key, i, isOperator)),
    priced_models: pricedModels,
    calls: { ...calls, is_complete: isComplete },
  }
}

function failureOf({ badAt, badStatus, badError, badCode, failures }: ProviderFact, isOperator: boolean) {
  if (badAt === 0) return null
  return {
    at: isoTime(badAt),
    status: badStatus || null,
    error: badError,
    ...(badError !== null && { message: reasonOf(badError, isOperator ? badCode : '') }),
    ...(isOperator && badCode !== '' && { code: badCode }),
    in_a_row: failures,
  }
}

function viewKey({ source, resting, restsUntil, status, made }: KeyFact, at: number, isOperator: boolean) {
  return {
    number: at + 1,
    resting_in: resting,
    rests_until: timeOf(restsUntil),
    rests_for_status: resting === 0 ? null : status,
    ...(made !== null && {
      made: {
        expires_at: timeOf(made.expiresAt),
        failing_in: made.failing,
        ...(isOperator && made.failure !== null && { failure: made.failure }),
      },
    }),
    ...(isOperator && { source: viewSource(source) }),
  }
}

function viewSource(source: SecretSource) {
  switch (source.kind) {
    case 'environment':
      return { type: source.kind, name: source.variables.join(', ') }
    case 'file':
      return { type: source.kind, name: source.path }
    case 'configuration':
      return { type: source.kind, name: null }
  }
}

function timeOf(at: number): string | null {
  return at === 0 ? null : isoTime(at)
}
