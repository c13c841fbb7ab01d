// The audience of errors of an AI call, by the kind of route and the dialect of its streams.

import type { PlainOperation } from '../../config/model/config.ts'
import { type AiTarget, isAmongNativeRoutes, type Operation } from '../../ai/target.ts'
import { type AiCallers, aiCallers, type StreamDialect } from '../../errors/audience/ai-callers.ts'

/** Until the provider is known, its dialect is guessed from the API that was called. */
export function audienceOf(target: AiTarget, dialect: StreamDialect = dialectOf(target)): AiCallers {
  return aiCallers(target.api === 'rest' ? 'rest' : 'native', dialect)
}

/** For a path that is no route. */
export function audienceAt(path: string): AiCallers {
  return aiCallers(isAmongNativeRoutes(path) ? 'native' : 'rest', isOfMessages(path) ? 'anthropic' : 'openai')
}

function dialectOf(target: AiTarget): StreamDialect {
  if (target.api === 'native')
    return target.provider === 'anthropic' || isOfMessages(target.path)
      ? 'anthropic'
      : isOfResponses(target.path)
        ? 'responses'
        : 'openai'
  const { operation } = target
  return operation in streamDialects ? streamDialects[operation as keyof typeof streamDialects] : 'openai'
}

const streamDialects: Readonly<
  Record<Exclude<Operation, PlainOperation> | 'count_tokens' | 'models', StreamDialect>
> = {
  chat: 'openai',
  messages: 'anthropic',
  responses: 'responses',
  embeddings: 'openai',
  run: 'openai',
  count_tokens: 'anthropic',
  models: 'openai',
}

function isOfResponses(path: string): boolean {
  const at = path.indexOf('/responses')
  if (at === -1) return false
  const next = path[at + '/responses'.length]
  return next === undefined || next === '?' || next === '/'
}

/** `/threads/{id}/messages` of OpenAI does not. */
function isOfMessages(path: string): boolean {
  return path.includes('/v1/messages')
}
