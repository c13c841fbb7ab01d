// The request in the body of a REST call, before its provider is known.

import { isUtf8 } from 'node:buffer'
import { isObject, pointerStep } from '../base/text/json.ts'
import { refuseCall, refuseCallAt } from '../errors/catalogue/api-faults.ts'
import type { Refusal } from '../errors/catalogue/refusal.ts'
import { type FormFlaw, modelInForm } from './parsing/multipart.ts'
import { bounds, type Member, membersOf, membersWithin, splice } from '../base/json/members.ts'

export interface CallRequest {
  readonly model: string
  /** JSON pointer; null if the path named the model. */
  readonly modelPointer: string | null
  /** All that the caller sent. */
  readonly body: Buffer
  /** The part for the provider. */
  readonly bytes: Buffer
  readonly request: Readonly<Record<string, unknown>>
  readonly members: readonly Member[]
  readonly pointer: '' | '/input'
  /** Where the name is, in a body that is a form. */
  readonly inForm?: { readonly start: number; readonly end: number }
}

/** As in the path of a run: it is repeated in logs and responses. */
const longestModel = 256

export function readRequest(body: Buffer): CallRequest | Refusal {
  const parsed = parseObject(body)
  if ('error' in parsed) return parsed
  const { request, members } = parsed
  const { model } = request
  if (members.filter(isModel).length > 1) return fault('/model', 'must be given once')
  if (typeof model !== 'string') return fault('/model', 'must be a string, such as openai/gpt-4o')
  if (model.length > longestModel) return fault('/model', `must have at most ${longestModel} characters`)
  return { model, modelPointer: '/model', body, bytes: body, request, members, pointer: '' }
}

/** `{model, input}`, or the bare input if the path names the model. */
export function readRun(body: Buffer, pathModel: string | null): CallRequest | Refusal {
  if (pathModel !== null) {
    const parsed = parseObject(body)
    if ('error' in parsed) return parsed
    return checkedInput({ model: pathModel, modelPointer: null, body, bytes: body, ...parsed, pointer: '' })
  }
  const callRequest = readRequest(body)
  if ('error' in callRequest) return callRequest
  const { model, modelPointer, members, request } = callRequest
  const stranger = members.find(({ name }) => name !== 'model' && name !== 'input')
  if (stranger) return fault(pointerOf(stranger.name), 'is unknown: the body is {model, input}')
  const input = members.find(isInput)
  if (members.findLast(isInput) !== input) return fault('/input', 'must be given once')
  if (!input || !isObject(request.input)) return fault('/input', 'must be an object')
  const bytes = body.subarray(input.start, input.end)
  const inner = { bytes, request: request.input, members: membersOf(bytes) }
  return checkedInput({ model, modelPointer, body, ...inner, pointer: '/input' })
}

/** Reads the model of a multipart form; its other parts are left to the provider. */
export function readForm(body: Buffer, boundary: string): CallRequest | Refusal {
  const field = modelInForm(body, boundary)
  if (typeof field === 'string') return formFaults[field]
  const { model, start, end } = field
  if (model.length > longestModel) return fault('/model', `must have at most ${longestModel} characters`)
  const inForm = { start, end }
  return { model, modelPointer: '/model', body, bytes: body, request: {}, members: [], pointer: '', inForm }
}

const formFaults: Readonly<Record<FormFlaw, Refusal>> = {
  form: fault(null, 'must be a form as RFC 7578 describes it, each part with one plain name'),
  missing: fault('/model', 'must be a part of the form, such as openai/whisper-1'),
  repeated: fault('/model', 'must be given once'),
}

export function withModel(
  { bytes, members, inForm }: Pick<CallRequest, 'bytes' | 'members' | 'inForm'>,
  name: string,
): Buffer {
  if (inForm !== undefined) return splice(bytes, inForm.start, inForm.end, name)
  const member = members.find(({ name }) => name === 'model')
  if (member) return splice(bytes, member.start, member.end, JSON.stringify(name))
  const first = members[0]?.nameStart ?? bytes.lastIndexOf('}')
  const separator = members.length === 0 ? '' : ','
  return splice(bytes, first, first, `"model":${JSON.stringify(name)}${separator}`)
}

/** Turns the member `prompt` into one message of a user; every other byte stays. */
export function promptAsMessage(callRequest: CallRequest): CallRequest {
  const { bytes, request } = callRequest
  const { nameStart, start, end } = callRequest.members.find(({ name }) => name === 'prompt')!
  const message = `"messages":[{"role":"user","content":${bytes.toString('utf8', start, end)}}]`
  const rewritten = splice(bytes, nameStart, end, message)
  const { prompt, ...others } = request
  const messages = [{ role: 'user', content: prompt }]
  return { ...callRequest, bytes: rewritten, request: { ...others, messages }, members: membersOf(rewritten) }
}

export function fault(pointer: string | null, rule: string): Refusal {
  const name = pointer === null ? 'The body' : pointer.slice(1).replaceAll('/', '.')
  return refuseCallAt(pointer, 'invalid', name, rule)
}

function checkedInput(input: CallRequest): CallRequest | Refusal {
  const seen = new Set<string>()
  for (const member of input.members) {
    const { name } = member
    const pointer = input.pointer + pointerOf(name)
    if (isModel(member)) return fault(pointer, 'belongs outside input: it is given beside it')
    if (seen.has(name)) return fault(pointer, 'must be given once')
    seen.add(name)
  }
  return input
}

function parseObject(body: Buffer): Pick<CallRequest, 'request' | 'members'> | Refusal {
  const members = membersWithin(body, bounds)
  if (typeof members === 'string') return unacceptable[members]
  try {
    const request: unknown = isUtf8(body) ? JSON.parse(body.toString()) : null
    return isObject(request) ? { request, members } : notAnObject
  } catch {
    return notAnObject
  }
}

const notAnObject = refuseCall('no_json_object')
const unacceptable = {
  no_object: notAnObject,
  depth: fault(null, `must not nest deeper than ${bounds.depth} levels`),
  values: fault(null, `must not have more than ${bounds.values} values`),
}

/** Some readers, such as those in Go, ignore case, and the last one counts. */
function isModel({ name }: Member): boolean {
  return name.length === 5 && name.toLowerCase() === 'model'
}

function isInput({ name }: Member): boolean {
  return name === 'input'
}

function pointerOf(name: string): string {
  return pointerStep(name.slice(0, 100))
}
