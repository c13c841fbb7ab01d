// How the gateway responds to callers of AI routes, by the kind of route and the dialect of their streams.

import type { AiTarget } from '../../ai/target.ts'
import type { AiCaller } from '../../errors/compose-ai.ts'

type Dialect = AiCaller['dialect']

const callers: Readonly<Record<AiCaller['api'], Readonly<Record<Dialect, AiCaller>>>> = {
  rest: { openai: { api: 'rest', dialect: 'openai' }, anthropic: { api: 'rest', dialect: 'anthropic' } },
  native: {
    openai: { api: 'native', dialect: 'openai' },
    anthropic: { api: 'native', dialect: 'anthropic' },
  },
}

/** Returns the caller of a target; its dialect is guessed from the called API until the provider is known. */
export function callerOf(target: AiTarget, dialect: Dialect = dialectOf(target)): AiCaller {
  return callers[target.api === 'rest' ? 'rest' : 'native'][dialect]
}

/** Returns the caller of a path that is no route. */
export function callerAt(path: string): AiCaller {
  return callers[path.startsWith('/v1/') ? 'native' : 'rest'][isOfMessages(path) ? 'anthropic' : 'openai']
}

function dialectOf(target: AiTarget): Dialect {
  if (target.api === 'native')
    return target.provider === 'anthropic' || isOfMessages(target.path) ? 'anthropic' : 'openai'
  return target.operation === 'messages' ? 'anthropic' : 'openai'
}

/** Whether a path is one of Messages, at any provider; `/threads/{id}/messages` of OpenAI is not. */
function isOfMessages(path: string): boolean {
  return path.includes('/v1/messages')
}
