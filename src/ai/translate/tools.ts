// Translates tools and the choice of tools between the two APIs.

import { dropped, map, object, off, record, text, textOr, truth, variants, words } from './rules.ts'

export const chatFunction = map(
  record({ name: text }, { description: text, parameters: object, strict: truth }),
  ({ name, description, parameters = { properties: {} }, strict }) => ({
    name,
    description,
    input_schema: { type: 'object' as const, ...parameters },
    strict: strict || undefined,
  }),
)

/** Only functions have an equivalent. */
export const chatTool = variants('type', {
  function: map(
    record({ type: text, function: chatFunction }, { cache_control: dropped }),
    tool => tool.function,
  ),
})

const namedTool = map(record({ type: text, function: record({ name: text }, {}) }, {}), choice => ({
  type: 'tool' as const,
  name: choice.function.name,
}))

export const chatToolChoice = map(textOr(variants('type', { function: namedTool })), (choice, at) =>
  typeof choice === 'string' ? toolChoiceWord(choice, at) : choice,
)

export const chatFunctionChoice = map(
  textOr(map(record({ name: text }, {}), ({ name }) => ({ type: 'tool' as const, name }))),
  (choice, at) => (typeof choice === 'string' ? functionChoiceWord(choice, at) : choice),
)

const functionChoiceWord = words({ auto: { type: 'auto' as const }, none: { type: 'none' as const } })

const toolChoiceWord = words({
  auto: { type: 'auto' as const },
  none: { type: 'none' as const },
  required: { type: 'any' as const },
})

/** Tools that the provider runs itself have types of their own, and no equivalent. */
export const messagesTool = variants(
  'type',
  {
    custom: map(
      record(
        { name: text, input_schema: object },
        {
          type: text,
          description: text,
          strict: truth,
          eager_input_streaming: truth, // chat streams arguments as the model writes them
          cache_control: dropped,
          allowed_callers: off([], ['direct']),
          defer_loading: truth, // nothing is deferred
          input_examples: off([]),
        },
      ),
      ({ name, description, input_schema: parameters, strict }) => ({
        type: 'function' as const,
        function: { name, description, parameters, strict: strict || undefined },
      }),
    ),
  },
  'custom',
)

const parallel = { disable_parallel_tool_use: truth }

/** The choice of chat as `word`, and whether several may be called at once. */
export const messagesToolChoice = variants('type', {
  auto: map(record({ type: text }, parallel), choice => ({ ...choice, word: 'auto' as const })),
  any: map(record({ type: text }, parallel), choice => ({ ...choice, word: 'required' as const })),
  none: map(record({ type: text }, parallel), choice => ({ ...choice, word: 'none' as const })),
  tool: map(record({ type: text, name: text }, parallel), ({ name, ...choice }) => ({
    ...choice,
    word: { type: 'function' as const, function: { name } },
  })),
})
