// Reads the tools of a Responses request as functions, which is all that other APIs have, and finds the tool
// that a call of a function is for.

import { createHash } from 'node:crypto'
import { readObject, textIn } from '../json.ts'
import type { Place } from '../place.ts'
import {
  anything,
  dropped,
  list,
  map,
  object,
  off,
  record,
  type Rule,
  text,
  textOr,
  truth,
  variants,
  words,
} from '../rules.ts'

/** A tool as its caller knows it, who runs it. */
export interface CallerTool {
  /** A custom tool takes one text. A search finds tools for the calls after it. */
  readonly type: 'function' | 'custom' | 'tool_search' | 'local_shell'
  readonly name: string
  readonly namespace?: string | undefined
}

/** A tool as a provider sees it. */
export interface FunctionTool {
  readonly tool: CallerTool
  readonly name: string
  readonly description: string | undefined
  readonly parameters: object
  readonly strict: boolean | undefined
}

/** A name that tells apart tools of several namespaces, in the length and alphabet of every API. */
export function functionName({ name, namespace }: Omit<CallerTool, 'type'>): string {
  const full = namespace === undefined || namespace === usualNamespace ? name : `${namespace}__${name}`
  if (allowedName.test(full)) return full
  const digest = createHash('sha256').update(full).digest('hex').slice(0, 8)
  return `${full.replaceAll(/[^\w-]/g, '_').slice(0, maxName - digest.length - 1)}_${digest}`
}

/** Where tools are whose calls name no namespace. */
const usualNamespace = 'functions'
const maxName = 64
const allowedName = /^[\w-]{1,64}$/

/** The arguments of a function for a call of its tool, whose input is plain text if it is a custom one. */
export function argumentsOf({ type }: CallerTool, input: string): string {
  if (type === 'custom') return JSON.stringify({ [customInput]: input })
  return input === '' ? '{}' : input
}

/** What the caller gets of the arguments that a model wrote: for a custom tool, the text in them. */
export function inputFor({ type }: CallerTool, json: string): string {
  if (type !== 'custom') return json === '' ? '{}' : json
  const read = readObject(json)
  return read === null ? json : textIn(read[customInput] ?? Object.values(read)[0])
}

const customInput = 'input'

/** The tools of one request, by the names of their functions. */
export class ToolNames {
  readonly #tools: ReadonlyMap<string, CallerTool>

  constructor(functions: readonly FunctionTool[]) {
    this.#tools = new Map(functions.map(({ name, tool }) => [name, tool]))
  }

  /** A model may call a function that it was not given. */
  toolOf(name: string): CallerTool {
    return this.#tools.get(name) ?? { type: 'function', name }
  }
}

type Read = Omit<FunctionTool, 'name'>

const common = {
  description: text,
  async: off(false),
  defer_loading: anything, // nothing is deferred
  allowed_callers: off([], ['direct']),
}

const functionTool = map(
  record(
    { type: text, name: text },
    { ...common, parameters: object, strict: truth, output_schema: dropped },
  ),
  ({ name, description, parameters = { properties: {} }, strict }): Read => ({
    tool: { type: 'function', name },
    description,
    parameters: { type: 'object', ...parameters },
    strict: strict || undefined,
  }),
)

const grammar = map(
  record({ type: text, syntax: text, definition: text }, {}),
  ({ syntax, definition }) => `It follows this grammar, in ${syntax} syntax:\n${definition}`,
)

const customTool = map(
  record(
    { type: text, name: text },
    { ...common, format: variants('type', { text: map(record({ type: text }, {}), () => ''), grammar }) },
  ),
  ({ name, description = '', format = '' }): Read => ({
    tool: { type: 'custom', name },
    description: [description, `Its text is the member ${customInput} of the arguments.`, format]
      .filter(text => text !== '')
      .join('\n\n'),
    parameters: {
      type: 'object',
      properties: { [customInput]: { type: 'string' } },
      required: [customInput],
      additionalProperties: false,
    },
    strict: undefined,
  }),
)

const one = { function: functionTool, custom: customTool }
const alone = <T>(rule: Rule<T>): Rule<readonly T[]> => map(rule, tool => [tool])

const namespaceTool = map(
  record({ type: text, name: text, tools: list(variants('type', one)) }, { description: text }),
  ({ name: namespace, tools }): readonly Read[] =>
    tools.map(read => ({ ...read, tool: { ...read.tool, namespace } })),
)

/** A search by the caller is a tool as any other; without the provider's, all tools are there at once. */
const searchTool = map(
  record(
    { type: text },
    { description: text, execution: words({ client: true, server: false }), parameters: object },
  ),
  ({ description, execution, parameters = {} }, at): readonly Read[] => {
    if (execution !== true) {
      at.step('tool_search').drop()
      return []
    }
    const tool = { type: 'tool_search', name: 'tool_search' } as const
    return [{ tool, description, parameters: { type: 'object', ...parameters }, strict: undefined }]
  },
)

/** OpenAI's models know what it takes. */
const shellTool = map(
  record({ type: text }, {}),
  (): Read => ({
    tool: { type: 'local_shell', name: 'local_shell' },
    description: 'Runs a command on the computer of the user.',
    parameters: {
      type: 'object',
      properties: {
        command: { type: 'array', items: { type: 'string' } },
        working_directory: { type: 'string' },
        timeout_ms: { type: 'integer' },
      },
      required: ['command'],
    },
    strict: undefined,
  }),
)

/** Agents offer these to every model, which can do without. */
const hosted = (value: unknown, at: Place): readonly Read[] => {
  at.step((value as { type: string }).type).drop()
  return []
}

const tool = variants('type', {
  function: alone(functionTool),
  custom: alone(customTool),
  namespace: namespaceTool,
  tool_search: searchTool,
  local_shell: alone(shellTool),
  web_search: hosted,
  web_search_preview: hosted,
  image_generation: hosted,
})

export const responsesTools: Rule<readonly FunctionTool[]> = map(list(tool), tools =>
  tools.flat().map(read => ({ ...read, name: functionName(read.tool) })),
)

/** What a model may or must call. */
export interface ToolChoice {
  readonly mode: 'auto' | 'none' | 'required'
  /** The function that it must call. */
  readonly name?: string
  /** The only functions that it may call. */
  readonly only?: readonly string[]
}

const namedTool = map(record({ type: text, name: text }, { namespace: text }), functionName)

const required = map(namedTool, (name): ToolChoice => ({ mode: 'required', name }))

const choiceWord = words<ToolChoice>({
  auto: { mode: 'auto' },
  none: { mode: 'none' },
  required: { mode: 'required' },
})

export const responsesToolChoice: Rule<ToolChoice> = map(
  textOr(
    variants('type', {
      function: required,
      custom: required,
      allowed_tools: map(
        record(
          {
            type: text,
            mode: words({ auto: 'auto', required: 'required' } as const),
            tools: list(variants('type', { function: namedTool, custom: namedTool })),
          },
          {},
        ),
        ({ mode, tools: only }): ToolChoice => ({ mode, only }),
      ),
    }),
  ),
  (choice, at) => (typeof choice === 'string' ? choiceWord(choice, at) : choice),
)
