// Turns a REST call into the call of a provider.

import { isObject } from '../base/text/json.ts'
import { refuseCallAt } from '../errors/catalogue/api-faults.ts'
import type { Refusal } from '../errors/catalogue/refusal.ts'
import {
  type CallRequest,
  fault,
  promptAsMessage,
  readRequest,
  readRun,
  withModel,
  readForm,
} from './request-body.ts'
import { modelHint } from './providers/hints.ts'
import { withOwnReasoning } from './failover/foreign-reasoning.ts'
import { type ReasoningApi, ReasoningTags, tagOf } from './failover/reasoning-tags.ts'
import { membersOf, splice } from '../base/json/members.ts'
import type { Dialect, Endpoint } from './providers/provider-rows.ts'
import { lackOf, type Model, type Provider, type Providers } from './providers/providers.ts'
import { boundaryOf } from './parsing/multipart.ts'
import { type CompatTarget, type RestTarget, takesForm } from './target.ts'
import { chatToMessages } from './translate/chat-call-to-messages.ts'
import { refuseDuplicate } from './translate/duplicates.ts'
import { readObject } from './translate/json.ts'
import { chatToResponses } from './translate/chat-responses/chat-call-to-responses.ts'
import { responsesToChat } from './translate/chat-responses/responses-call-to-chat.ts'
import { messagesToChat } from './translate/messages-call-to-chat.ts'
import { messagesToResponses } from './translate/messages-responses/messages-call-to-responses.ts'
import { responsesToMessages } from './translate/messages-responses/responses-call-to-messages.ts'
import type { Translation } from './translate/translation.ts'
import { UsageRefusals } from './usage-refusals.ts'

export interface Call {
  readonly provider: Provider
  readonly model: string
  readonly path: string
  readonly body: Buffer
  /** In which the caller expects errors within a stream. */
  readonly dialect: Dialect | 'responses'
  readonly asks: Dialect
  readonly translation: Translation | null
  /** Whether a JSON response is wrapped in the `result` of the API envelope. */
  readonly wraps: boolean
  /** Whether the usage of a stream was requested by the gateway alone. */
  readonly hidesUsage: boolean
  /** Whether the gateway added the request for usage; and the body before that, unless it was translated. */
  readonly asksUsage: boolean
  readonly callersBody: Buffer | null
  /** Members of the request that are left out. */
  readonly dropped: readonly string[]
  /** Tags the reasoning in the response to a call with an alias; null if it cannot have any. */
  readonly reasoningTags: ReasoningTags | null
}

interface Wishes {
  readonly streamUsage: boolean
  /** The gateway needs the usage even if the caller does not request it. */
  readonly isLogged: boolean
  readonly isChecked: boolean
  readonly refusals: Pick<UsageRefusals, 'has'>
  /** An alias names the model, so that the query, and a credential in it, may be for another provider. */
  readonly isRouted: boolean
}

/** `contentType` is null for JSON. */
export function readCall(
  target: RestTarget | CompatTarget,
  body: Buffer,
  contentType: string | null = null,
): CallRequest | Refusal {
  const boundary = takesForm(target) && contentType !== null ? boundaryOf(contentType) : null
  if (boundary !== null) return readForm(body, boundary)
  return target.operation === 'run' ? readRun(body, target.model) : readRequest(body)
}

/**
 * Renames the model and keeps every other byte, or translates all. Refuses an unknown model (404), and
 * features that its provider lacks.
 */
export function planCall(
  target: RestTarget | CompatTarget,
  callRequest: CallRequest,
  providers: Providers,
  wishes: Wishes = noWishes,
): Call | Refusal {
  const isRun = target.operation === 'run'
  const model = providers.model(callRequest.model)
  if (model === null) return unknownModel(callRequest, providers, wishes.isChecked)
  const form = isRun ? formOf(callRequest, model) : { callRequest, api: target.operation }
  if ('error' in form) return form
  const mayAsk =
    wishes.streamUsage && model.provider.streamsUsage && !wishes.refusals.has(model.provider, model.name)
  const { isRouted } = wishes
  const query = isRouted ? '' : queryFor(target, model)
  const call = callOf(form.callRequest, form.api, model, { query, wraps: isRun, mayAsk, isRouted })
  if ('error' in call || call.translation !== null || form.api !== 'chat') return call
  return mayAsk && wishes.isLogged && wantsNoUsage(form.callRequest) ? withUsage(call) : call
}

const noWishes: Wishes = {
  streamUsage: false,
  isLogged: false,
  isChecked: false,
  refusals: new UsageRefusals(),
  isRouted: false,
}

/** Removes everything that could be a credential: only configured ones are used there. */
function queryFor({ api, query }: RestTarget | CompatTarget, { provider }: Model): string {
  const { credentialParameter } = provider
  if (api !== 'rest' || credentialParameter === null || query === '') return query
  const parameters = query
    .slice(1)
    .split('&')
    .filter(parameter => !new URLSearchParams(parameter).has(credentialParameter))
  return parameters.length === 0 ? '' : `?${parameters.join('&')}`
}

/** A way to serve the callers of one API by another, and how. */
interface Way {
  readonly target: 'chat' | 'messages' | 'responses'
  translate(request: Record<string, unknown>, model: Model, streamsUsage: boolean): Translation | Refusal
}

/** Of several that a provider has, the first is taken. */
const ways: Readonly<Partial<Record<Endpoint, readonly Way[]>>> = {
  chat: [
    { target: 'responses', translate: (request, { name }) => chatToResponses(request, name) },
    { target: 'messages', translate: (request, { name }) => chatToMessages(request, name) },
  ],
  messages: [
    {
      target: 'chat',
      translate: (request, { name }, streamsUsage) => messagesToChat(request, name, { streamsUsage }),
    },
    {
      target: 'responses',
      translate: (request, { name, provider }) => messagesToResponses(request, name, tagOf(provider.name)),
    },
  ],
  responses: [
    {
      target: 'chat',
      translate: (request, { name }, streamsUsage) => responsesToChat(request, name, { streamsUsage }),
    },
    {
      target: 'messages',
      translate: (request, { name, provider }) => responsesToMessages(request, name, tagOf(provider.name)),
    },
  ],
}

const asItIs = { hidesUsage: false, asksUsage: false, callersBody: null }

export function withoutUsage(call: Call): Call {
  const body = call.callersBody ?? withoutMember(call.body, 'stream_options')
  return { ...call, ...asItIs, body }
}

function withoutMember(body: Buffer, name: string): Buffer {
  const members = membersOf(body)
  const at = members.findIndex(member => member.name === name)
  return at < 1 ? body : splice(body, members[at - 1]!.end, members[at]!.end, '')
}

interface Circumstances {
  readonly query: string
  readonly wraps: boolean
  readonly mayAsk: boolean
  readonly isRouted: boolean
}

function callOf(
  callRequest: CallRequest,
  api: Endpoint,
  model: Model,
  { query, wraps, mayAsk, isRouted }: Circumstances,
): Call | Refusal {
  const { provider, name } = model
  const dialect = api === 'messages' ? 'anthropic' : api === 'responses' ? 'responses' : 'openai'
  const common = { ...asItIs, provider, model: name, dialect, wraps } as const
  const path = provider.endpoints[api]
  if (path !== undefined) {
    const own = ownReasoning(callRequest, api, provider.name, isRouted)
    if ('error' in own) return own
    return {
      ...common,
      path: path + query,
      body: withModel(own.callRequest, name),
      asks: api === 'messages' ? 'anthropic' : 'openai',
      translation: null,
      dropped: own.dropped,
      reasoningTags: isRouted && isConversation(api) ? new ReasoningTags(api, provider.name) : null,
    }
  }
  const translated = translate(callRequest, api, model, mayAsk)
  if ('error' in translated) return translated
  const { translation, target } = translated
  const { body, dropped } = translation
  return {
    ...common,
    // The query belongs to the API that the call is translated from.
    path: provider.endpoints[target]!,
    body,
    asks: target === 'messages' ? 'anthropic' : 'openai',
    translation,
    asksUsage: mayAsk && target === 'chat' && callRequest.request.stream === true,
    dropped,
    // A translation that passes reasoning on packs it with a tag.
    reasoningTags: null,
  }
}

function isConversation(api: Endpoint): api is ReasoningApi {
  return api === 'chat' || api === 'messages' || api === 'responses'
}

/** Returns the request with no other reasoning than that of the provider, and what was left out. */
function ownReasoning(
  callRequest: CallRequest,
  api: Endpoint,
  provider: string,
  isRouted: boolean,
): { readonly callRequest: CallRequest; readonly dropped: readonly string[] } | Refusal {
  if (!isConversation(api)) return { callRequest, dropped: [] }
  const own = withOwnReasoning({
    bytes: callRequest.bytes,
    request: callRequest.request,
    api,
    provider,
    isRouted,
  })
  if ('missed' in own)
    return fault(
      callRequest.pointer + own.missed,
      `must be from ${provider}, since its turn ends in tool use`,
    )
  const { bytes, dropped } = own
  return bytes === callRequest.bytes
    ? { callRequest, dropped }
    : { callRequest: { ...callRequest, bytes, members: membersOf(bytes) }, dropped }
}

/** Whether a streamed chat does not request usage, and has a form that allows adding that. */
function wantsNoUsage({ request: { stream, stream_options: options = null } }: CallRequest): boolean {
  if (stream !== true) return false
  return options === null || (isObject(options) && (options.include_usage ?? false) === false)
}

/** Makes the stream of a chat end with its usage; every other byte stays. */
function withUsage({ body, ...rest }: Call): Call {
  const call = { ...rest, body, hidesUsage: true, asksUsage: true, callersBody: body }
  const members = membersOf(body)
  const options = members.findLast(({ name }) => name === 'stream_options')
  if (options === undefined) {
    const { nameStart } = members[0]!
    return { ...call, body: splice(body, nameStart, nameStart, `${asksUsage},`) }
  }
  const { nameStart, start, end } = options
  if (body[start] !== brace) return { ...call, body: splice(body, nameStart, end, asksUsage) }
  const inner = membersOf(body.subarray(start, end))
  const asking = inner.findLast(({ name }) => name === 'include_usage')
  const spliced =
    asking === undefined
      ? splice(body, start + 1, start + 1, `"include_usage":true${inner.length === 0 ? '' : ','}`)
      : splice(body, start + asking.start, start + asking.end, 'true')
  return { ...call, body: spliced }
}

const brace = 0x7b
const asksUsage = '"stream_options":{"include_usage":true}'

function translate(
  callRequest: CallRequest,
  api: Endpoint,
  model: Model,
  mayAsk: boolean,
): { translation: Translation; target: Way['target'] } | Refusal {
  const { provider, name } = model
  const way = ways[api]?.find(({ target }) => provider.endpoints[target] !== undefined)
  if (way === undefined) {
    return refuseCallAt(callRequest.modelPointer, 'invalid', provider.name, lackOf(provider, api))
  }
  const json = callRequest.bytes.toString()
  const duplicate = refuseDuplicate(json)
  if (duplicate !== null) return within(callRequest.pointer, duplicate)
  // Parsed again, since JSON.parse rounds numbers with many digits.
  const request = readObject(json) ?? callRequest.request
  const translation = way.translate({ ...request, model: name }, model, mayAsk)
  return 'error' in translation
    ? within(callRequest.pointer, translation)
    : { translation, target: way.target }
}

/** Which API the input of `/ai/run` is for, by the member that is specific to it. */
function formOf(
  callRequest: CallRequest,
  { provider, name }: Model,
): { callRequest: CallRequest; api: Endpoint } | Refusal {
  const { messages, input, prompt } = callRequest.request
  const [form, second] = forms.filter(form => callRequest.request[form] !== undefined)
  if (form === undefined) return fault(callRequest.pointer || null, `must have one of ${forms.join(', ')}`)
  if (second !== undefined)
    return fault(`${callRequest.pointer}/${second}`, `cannot be combined with ${form}`)
  if (messages !== undefined) return { callRequest, api: apiOfMessages(provider) }
  if (input !== undefined) return { callRequest, api: name.includes('embed') ? 'embeddings' : 'responses' }
  if (typeof prompt !== 'string') return fault(`${callRequest.pointer}/prompt`, 'must be a string')
  return { callRequest: promptAsMessage(callRequest), api: 'chat' }
}

function apiOfMessages({ endpoints }: Provider): Endpoint {
  return endpoints.chat === undefined && endpoints.messages !== undefined ? 'messages' : 'chat'
}

const forms = ['messages', 'input', 'prompt'] as const

/** Only a caller with a valid token learns which providers have the model. */
function unknownModel(
  { model, modelPointer }: CallRequest,
  providers: Providers,
  isChecked: boolean,
): Refusal {
  const shown = model.slice(0, 100)
  const candidates = providers.candidates(model)
  if (candidates.length > 0) {
    const names = isChecked ? candidates.join(' or ') : 'AUTHOR/MODEL'
    return refuseCallAt(modelPointer, 'several_models', shown, names)
  }
  const names = providers.names(isChecked)
  return refuseCallAt(modelPointer, 'no_model', shown, modelHint(shown, names))
}

function within(pointer: string, refusal: Refusal): Refusal {
  if (pointer === '') return refusal
  const faults = refusal.faults.map(fault => ({
    ...fault,
    pointer: fault.pointer === null ? pointer : pointer + fault.pointer,
  }))
  return { ...refusal, faults }
}
