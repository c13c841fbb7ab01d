// From a REST call to the call of a provider: who, at which path, with what body. The edge asks once the body is there.

import { type Refusal, refuse } from '../errors/refusal.ts'
import { type Asked, fault, promptAsMessage, readRequest, readRun, withModel } from './asked.ts'
import type { Dialect, Endpoint } from './provider-rows.ts'
import type { Model, Provider, Providers } from './providers.ts'
import type { CompatTarget, RestTarget } from './target.ts'
import { chatToMessages } from './translate-chat-to-messages.ts'
import { readObject } from './translate-json.ts'
import { messagesToChat } from './translate-messages-to-chat.ts'
import type { Translation } from './translation.ts'

export interface Call {
  readonly provider: Provider
  /** As the provider gets it. */
  readonly model: string
  /** Path and query at the provider, base path included. */
  readonly path: string
  readonly body: Buffer
  /** In which the caller expects the errors of a stream. */
  readonly dialect: Dialect
  /** In which the provider is asked. */
  readonly asks: Dialect
  readonly translation: Translation | null
  /** Whether a JSON answer goes into the `result` of the API envelope. */
  readonly wraps: boolean
}

/**
 * Plans a call: the model is renamed and every other byte stays, or the request is translated as a whole. Refuses a body that can't be understood, a model
 * that nobody has (404), and what its provider can't do (each by its name).
 */
export function planCall(
  target: RestTarget | CompatTarget,
  body: Buffer,
  providers: Providers,
): Call | Refusal {
  const isRun = target.operation === 'run'
  const asked = isRun ? readRun(body, target.model) : readRequest(body)
  if ('error' in asked) return asked
  const model = providers.model(asked.model)
  if (model === null) return unknownModel(asked)
  const form = isRun ? formOf(asked, model) : { asked, api: target.operation }
  return 'error' in form ? form : callOf(form.asked, form.api, model, queryFor(target, model), isRun)
}

/** Leaves out of a REST call's query what could be a credential: those are ours alone there. */
function queryFor({ api, query }: RestTarget | CompatTarget, { provider }: Model): string {
  const { credentialParameter } = provider
  if (api !== 'rest' || credentialParameter === null || query === '') return query
  const kept = query
    .slice(1)
    .split('&')
    .filter(parameter => !new URLSearchParams(parameter).has(credentialParameter))
  return kept.length === 0 ? '' : `?${kept.join('&')}`
}

const translations = {
  chat: { target: 'messages', translate: chatToMessages },
  messages: { target: 'chat', translate: messagesToChat },
} as const

function callOf(asked: Asked, api: Endpoint, model: Model, query: string, wraps: boolean): Call | Refusal {
  const { provider, name } = model
  const dialect: Dialect = api === 'messages' ? 'anthropic' : 'openai'
  const common = { provider, model: name, dialect, wraps }
  const path = provider.endpoints[api]
  if (path !== undefined)
    return { ...common, path: path + query, body: withModel(asked, name), asks: dialect, translation: null }
  const translated = translate(asked, api, model)
  if ('error' in translated) return translated
  const { translation } = translated
  // The query is of the API that is left behind.
  const asks = dialect === 'openai' ? 'anthropic' : 'openai'
  return { ...common, path: translated.path, body: translation.body, asks, translation }
}

function translate(
  asked: Asked,
  api: Endpoint,
  { provider, name }: Model,
): { translation: Translation; path: string } | Refusal {
  const way = api === 'chat' || api === 'messages' ? translations[api] : null
  const path = way === null ? undefined : provider.endpoints[way.target]
  if (way === null || path === undefined) {
    const message = `${provider.name} has no API for ${api} that is known here`
    return refuse('bad_request', { faults: [{ code: 10001, message, pointer: asked.modelPointer }] })
  }
  // Read anew: JSON.parse rounds numbers of many digits, which matters as soon as they are written again.
  const request = readObject(asked.bytes.toString()) ?? asked.request
  const translation = way.translate({ ...request, model: name }, name)
  return 'error' in translation ? within(asked.pointer, translation) : { translation, path }
}

/** Which API the input of `/ai/run` is for, by the one member that says so. */
function formOf(asked: Asked, { provider, name }: Model): { asked: Asked; api: Endpoint } | Refusal {
  const { messages, input, prompt } = asked.request
  const [form, second] = FORMS.filter(form => asked.request[form] !== undefined)
  if (form === undefined) return fault(asked.pointer || null, `must have one of ${FORMS.join(', ')}`)
  if (second !== undefined) return fault(`${asked.pointer}/${second}`, `can't stand beside ${form}`)
  if (messages !== undefined) return { asked, api: provider.endpoints.chat ? 'chat' : 'messages' }
  if (input !== undefined) return { asked, api: name.includes('embed') ? 'embeddings' : 'responses' }
  if (typeof prompt !== 'string') return fault(`${asked.pointer}/prompt`, 'must be a string')
  return { asked: promptAsMessage(asked), api: 'chat' }
}

const FORMS = ['messages', 'input', 'prompt'] as const

function unknownModel({ model, modelPointer }: Asked): Refusal {
  const message = `There is no model ${JSON.stringify(model.slice(0, 100))}: models are named AUTHOR/MODEL, such as openai/gpt-4o`
  return refuse('not_found', { faults: [{ code: 7003, message, pointer: modelPointer }] })
}

/** Lets pointers into the request point into the body. */
function within(pointer: string, refusal: Refusal): Refusal {
  if (pointer === '') return refusal
  const faults = refusal.faults.map(fault => ({
    ...fault,
    pointer: fault.pointer === null ? pointer : pointer + fault.pointer,
  }))
  return { ...refusal, faults }
}
