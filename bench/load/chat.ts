// The chats of the bench, in the shape of OpenAI's chat completions: what callers send, and what the origin answers.
import type { Socket } from 'node:net'

/** Where a provider takes chats. */
export const CHAT_PATH = '/v1/chat/completions'

/** Milliseconds between two events of a streamed answer. */
export const TOKEN_INTERVAL = 20

/** Milliseconds between the last token and the end: not part of what is timed, but time in which it is not over. */
const END_DELAY = 2

/** Events of a streamed answer behind its last token: why it ends, and that it does. */
export const LAST_EVENTS = 2

const REQUEST_LENGTH = 300
const ANSWER_LENGTH = 700
const MODEL = 'gpt-4o-mini'
const USAGE = { prompt_tokens: 43, completion_tokens: 57, total_tokens: 100 }

const COMPLETION = completion(ANSWER_LENGTH)
const ANSWER = Buffer.from(
  `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${COMPLETION.length}\r\n\r\n${COMPLETION}`,
)
// nginx would hold the events back if the origin did not ask it not to.
const STREAM_HEAD =
  'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nCache-Control: no-cache\r\n' +
  'X-Accel-Buffering: no\r\nTransfer-Encoding: chunked\r\n\r\n'
const TOKEN = chunk(event({ delta: { content: ' token' }, finish_reason: null }))
const BEGINNING = Buffer.from(STREAM_HEAD + TOKEN)
const END = Buffer.from(`${chunk(`${event({ delta: {}, finish_reason: 'stop' })}data: [DONE]\n\n`)}0\r\n\r\n`)

/** Makes the body of a chat: 300 bytes with the model's plain name, or of a chat that is streamed in so many tokens. */
export function chatBody(model: string, tokens: number | null): string {
  const chat = (text: string) => ({
    model,
    messages: [
      { role: 'system', content: 'You are a helpful assistant. Answer in one paragraph.' },
      { role: 'user', content: text },
    ],
    temperature: 0.2,
  })
  if (tokens !== null) return JSON.stringify({ ...chat('Tell me.'), max_tokens: tokens, stream: true })
  const left = REQUEST_LENGTH - JSON.stringify({ ...chat(''), model: MODEL }).length
  return JSON.stringify(chat(words(left)))
}

/** Answers a chat: at once with 700 bytes of JSON, or with the first token at once and an end soon behind the last. */
export function answerChat(socket: Socket, body: string): void {
  const asked = /"max_tokens":(\d+),"stream":true/.exec(body)
  if (asked === null) socket.write(ANSWER)
  else stream(socket, Number(asked[1]))
}

function stream(socket: Socket, tokens: number): void {
  let left = tokens - 1
  socket.write(BEGINNING)
  let due = performance.now()
  let timer: NodeJS.Timeout
  // Each stream keeps its own beat: intervals of one length, late once, would fire together ever after.
  const wait = () => {
    due += left > 0 ? TOKEN_INTERVAL : END_DELAY
    timer = setTimeout(tick, due - performance.now())
  }
  const tick = () => {
    socket.write(left > 0 ? TOKEN : END)
    if (left-- > 0) wait()
    else socket.off('close', stop)
  }
  const stop = () => clearTimeout(timer)
  wait()
  socket.on('close', stop)
}

function completion(length: number): string {
  const make = (content: string) =>
    JSON.stringify({
      ...{ id: 'chatcmpl-BQk2fT8aLmZ0', object: 'chat.completion', created: 1767225600, model: MODEL },
      choices: [{ index: 0, message: { role: 'assistant', content }, logprobs: null, finish_reason: 'stop' }],
      usage: USAGE,
    })
  return make(words(length - make('').length))
}

function event(choice: object): string {
  const data = {
    ...{ id: 'chatcmpl-BQk2fT8aLmZ0', object: 'chat.completion.chunk', created: 1767225600, model: MODEL },
    choices: [{ index: 0, ...choice }],
  }
  return `data: ${JSON.stringify(data)}\n\n`
}

function chunk(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n`
}

function words(length: number): string {
  return ''.padEnd(length, 'abcdefgh ')
}
