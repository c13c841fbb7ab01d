// Holds a call to the gateways and models that its token is limited to.

import { memoizeLast } from '../../base/memo.ts'
import { withoutQuery } from '../../base/path/path.ts'
import type { Provider, Providers } from '../../ai/providers/providers.ts'
import { boundaryOf } from '../../ai/parsing/multipart.ts'
import { type CallRequest, readRequest } from '../../ai/request-body.ts'
import { type OtherModels, otherModelsIn } from '../../ai/worst-case/other-models.ts'
import { isPlainJson } from '../../ai/worst-case/worst-case.ts'
import { refuseCall } from '../../errors/catalogue/api-faults.ts'
import type { Refusal } from '../../errors/catalogue/refusal.ts'
import type { TokenLimits } from '../../store/records/records.ts'
import { mayCall, mayUseGateway } from '../../tokens/may-call.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'

/** Refuses a gateway that the token may not use, whether it exists or not. */
export function refuseGateway(ai: AiExchange, token: TokenLimits, gateway: string): Refusal | null {
  if (mayUseGateway(token, gateway)) return null
  return refuse(ai, `gateways ${listed(token.gateways!)}, and ${gateway} is none of them`)
}

/** Whether the token allows a name itself: an alias or dynamic route, with all that it leads to. */
export function allowsName({ token, gateway }: AiExchange, name: string): boolean {
  return mayCall(token, gateway!.id, name)
}

/** Refuses a model that the token may not call. One that no provider has is refused elsewhere. */
export function refuseModel(
  ai: AiExchange,
  callRequest: CallRequest,
  providers: Pick<Providers, 'model'>,
): Refusal | null {
  if (ai.token?.models === undefined) return null
  const { model } = callRequest
  const match = providers.model(model)
  if (match === null) return null
  const isAllowed = ai.isAllowedByName || allowsName(ai, model)
  const others = otherModelsOf(callRequest)
  return refuseUnless(ai, match.provider, isAllowed ? others : [match.name, ...others])
}

/** Refuses a provider-native call of a model that the token may not call, or of one that cannot be known. */
export function refuseNativeModel(
  ai: AiExchange,
  provider: Provider,
  path: string,
  body: Buffer,
): Refusal | null {
  return refuseUnless(ai, provider, calledModels(ai, provider, path, body))
}

/** The model of a provider-native call, and others that its provider may call; null if it cannot be known. */
type CalledModels = readonly [model: string | null, ...others: OtherModels]

export function calledModels(ai: AiExchange, provider: Provider, path: string, body: Buffer): CalledModels {
  const inPath = modelInPath(provider, path)
  if (inPath === null) return modelsInBody(ai, path, body)
  return isModelInPath(path) ? [inPath, ...othersBesidePath(ai, body)] : [inPath]
}

/**
 * Returns the model of a call that its path decides, whatever the body says: those of Google, Azure and
 * Bedrock, and realtime sessions of OpenAI, which cannot change it.
 */
export function modelInPath({ name, base }: Provider, path: string): string | null {
  if (name.startsWith('custom-')) return null
  const { plain, model } = inPath(path)
  if (model !== null) return unescaped(model)
  if (name !== 'openai' || !plain.endsWith('/realtime')) return null
  if (plain !== `${base.pathname.replace(/\/$/, '')}/realtime`) return null
  const models = new URLSearchParams(path.slice(plain.length)).getAll('model')
  return models.length === 1 ? models[0]! : null
}

/**
 * Whether a path is of the kind that names a model, so that the body does not, or may be one to a provider
 * that unescapes it, merges slashes or ignores case.
 */
export function isModelInPath(path: string): boolean {
  return inPath(path).namesModel
}

/** Most calls are like the one before. */
const inPath = memoizeLast((path: string) => {
  const plain = withoutQuery(path)
  const [, ...models] = callInPath.exec(plain) ?? []
  const model = models.find(model => model !== undefined) ?? null
  return { plain, model, namesModel: model !== null || mayNameModel(plain) }
})

const callInPath =
  /^(?:\/(?!models?\/|deployments\/)[\w.-]+)*\/(?:models\/([\w.@~-]{1,256}):\w+|deployments\/([\w.@~-]{1,256})(?:\/(?!deployments\/)[\w-]+)+|model\/((?:[\w.:~-]|%[\dA-Fa-f]{2}){1,256})\/[\w-]+)$/

function mayNameModel(plain: string): boolean {
  const path = canonical(plain)
  if (path.includes(':', path.lastIndexOf('/'))) return true
  return beforeModels.some(folder => {
    const at = path.indexOf(folder)
    return at !== -1 && path.includes('/', at + folder.length)
  })
}

const beforeModels = ['/deployments/', '/model/']

function canonical(plain: string): string {
  const characters = plain.replace(/%([\da-f]{2})/gi, (_, hex) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
  return characters
    .replace(/;[^/\\]*/g, '')
    .replace(/[/\\]+/g, '/')
    .toLowerCase()
}

function unescaped(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

/** Whether the body of a provider-native call may name models. */
export function mayNameModels(ai: AiExchange, provider: Provider, path: string): boolean {
  return modelInPath(provider, path) === null ? isNamedInBody(ai, path) : isModelInPath(path) && isJson(ai)
}

/** Calls whose body names the model in `model`. What others may run cannot be known. */
const callWithModel =
  /\/(?:chat\/completions|completions|embeddings|responses|messages|messages\/count_tokens|moderations|images\/generations|audio\/speech|rerank|api\/(?:chat|generate|embed|embeddings))$/

function isNamedInBody(ai: AiExchange, path: string): boolean {
  const plain = withoutQuery(path)
  return isJson(ai) && callWithModel.test(plain) && !isModelInPath(path)
}

function isJson({ fields: { contentType, contentEncoding } }: AiExchange): boolean {
  return contentEncoding === null && (contentType === null || isPlainJson(contentType))
}

function modelsInBody(ai: AiExchange, path: string, body: Buffer): CalledModels {
  const callRequest = isNamedInBody(ai, path) ? readRequest(body) : noRequest
  return 'error' in callRequest ? unknown : [callRequest.model, ...otherModelsOf(callRequest)]
}

const noRequest = refuseCall('no_json_object')
const unknown = [null] as const
const none: OtherModels = []

/** The models that a request names besides its own. */
export function otherModelsOf({ bytes, members }: Pick<CallRequest, 'bytes' | 'members'>): OtherModels {
  return otherModelsIn(bytes, members)
}

/** Those in the body of a call whose path names the model. */
function othersBesidePath({ fields }: AiExchange, body: Buffer): OtherModels {
  const { contentType, contentEncoding } = fields
  if (contentEncoding !== null) return unknown
  if (contentType !== null && !isPlainJson(contentType))
    return boundaryOf(contentType) === null ? unknown : none
  return body.length === 0 ? none : otherModelsIn(body)
}

function refuseUnless(
  ai: AiExchange,
  { name }: Provider,
  models: readonly (string | null)[],
): Refusal | null {
  const wrong = models.find(model => model === null || !allowsName(ai, `${name}/${model}`))
  if (wrong === undefined) return null
  const which =
    wrong === null
      ? 'and which one this call is for cannot be known'
      : `and ${JSON.stringify(`${name}/${wrong}`.slice(0, 100))} is none of them`
  return refuse(ai, `models ${listed(ai.token!.models!)}, ${which}`)
}

function refuse({ target }: AiExchange, limit: string): Refusal {
  return refuseCall(target.api === 'rest' ? 'call_beyond_token' : 'native_beyond_token', limit)
}

function listed(patterns: readonly string[]): string {
  const more = patterns.length - maxListed
  return patterns.slice(0, maxListed).join(', ') + (more > 0 ? ` and ${more} more` : '')
}

const maxListed = 5
