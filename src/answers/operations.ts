// Which calls have a response that may be reused, by the path and the body that their provider gets.

import { bounds, membersWithin } from '../base/json/members.ts'
import { memoizeLast } from '../base/memo.ts'
import { withoutQuery } from '../base/path/path.ts'

/**
 * The members by which a call leaves something at its provider or depends on what is there, each with the
 * value with which it does not; `null` always does not.
 */
interface Operation {
  readonly stateful: ReadonlyMap<string, string | null>
  /** Those that do if they are absent. */
  readonly required: readonly string[]
}

const plain: Operation = { stateful: new Map(), required: [] }
const chat: Operation = { stateful: new Map([['store', 'false']]), required: [] }
/** A container outlives its call. */
const messages: Operation = { stateful: new Map([['container', null]]), required: [] }
const responses: Operation = {
  stateful: new Map([
    ['store', 'false'],
    ['background', 'false'],
    ['previous_response_id', null],
    ['conversation', null],
  ]),
  required: ['store'],
}

/**
 * By the end of the path. Forms are no part of it, since their borders differ each time, nor is what stores,
 * lists or changes something: files, batches, sessions, assistants, tuning.
 */
const operations: readonly (readonly [RegExp, Operation])[] = [
  [/\/(?:chat\/)?completions$/, chat],
  [/\/messages$/, messages],
  [/\/responses$/, responses],
  [/\/(?:embeddings|moderations|rerank)$/, plain],
  [/\/(?:images\/generations|audio\/speech)$/, plain],
  [/\/api\/(?:chat|generate|embed|embeddings)$/, plain],
  [/:(?:generateContent|streamGenerateContent|embedContent|batchEmbedContents)$/, plain],
  [/:(?:rawPredict|streamRawPredict)$/, messages],
  [/\/model\/[^/]+\/(?:invoke|converse|invoke-with-response-stream|converse-stream)$/, messages],
]

/** Why the response to a reusable operation is for its own call alone; null if it may be reused. */
export function isForItself(path: string, body: Buffer): 'stateful' | 'unreadable' | null {
  const operation = operationAt(path)!
  const members = membersWithin(body, bounds)
  if (typeof members === 'string') return 'unreadable'
  const { stateful, required } = operation
  const isAbsent = (name: string) => !members.some(member => member.name === name)
  if (required.some(isAbsent)) return 'stateful'
  for (const { name, start, end } of members) {
    const harmless = stateful.get(name)
    if (harmless === undefined) continue
    const value = body.toString('latin1', start, end)
    // Of those that are required, `null` stands for the default.
    if (value !== harmless && (value !== 'null' || required.includes(name))) return 'stateful'
  }
  return null
}

/** Whether a call to this path may have a response that is reused. */
export function isReusableAt(path: string): boolean {
  return operationAt(path) !== null
}

/** Most calls are like the one before. */
const operationAt = memoizeLast((path: string): Operation | null => {
  const plain = withoutQuery(path)
  return operations.find(([pattern]) => pattern.test(plain))?.[1] ?? null
})
