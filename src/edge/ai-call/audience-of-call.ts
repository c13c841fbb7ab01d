// How the gateway responds to callers of AI routes, by the kind of route and the dialect of their streams.

import type { AiTarget, Operation } from '../../ai/target.ts'
import type { AiCaller, StreamDialect } from '../../errors/audience/ai-callers.ts'

const callers: Readonly<Record<AiCaller['api'], Readonly<Record<StreamDialect, AiCaller>>>> = {
  rest: {
    openai: { api: 'rest', dialect: 'openai' },
    anthropic: { api: 'rest', dialect: 'anthropic' },
    responses: { api: 'rest', dialect: 'responses' },
  },
  native: {
    openai: { api: 'native', dialect: 'openai' },
    anthropic: { api: 'native', dialect: 'anthropic' },
    responses: { api: 'native', dialect: 'responses' },
  },
}

/** Returns the caller of a target; its dialect is guessed from the called API until the provider is known. */
export function callerOf(target: AiTarget, dialect: StreamDialect = dialectOf(target)): AiCaller {
  return callers[target.api === 'rest' ? 'rest' : 'native'][dialect]
}

/** Returns the caller of a path that is no route. */
export function callerAt(path: string): AiCaller {
  return callers[path.startsWith('/v1/') ? 'native' : 'rest'][isOfMessages(path) ? 'anthropic' : 'openai']
}

function dialectOf(target: AiTarget): StreamDialect {
  if (target.api === 'native')
    return target.provider === 'anthropic' || isOfMessages(target.path)
      ? 'anthropic'
      : isOfResponses(target.path)
        ? 'responses'
        : 'openai'
  return streamDialects[target.operation]
}

const streamDialects: Readonly<Record<Operation, StreamDialect>> = {
  chat: 'openai',
  messages: 'anthropic',
  responses: 'responses',
  embeddings: 'openai',
  run: 'openai',
}

/** Whether a path creates a response, or is about one, at any provider. */
function isOfResponses(path: string): boolean {
  const at = path.indexOf('/responses')
  if (at === -1) return false
  const next = path[at + '/responses'.length]
  return next === undefined || next === '?' || next === '/'
}

/** Whether a path is one of Messages, at any provider; `/threads/{id}/messages` of OpenAI is not. */
function isOfMessages(path: string): boolean {
  return path.includes('/v1/messages')
}
