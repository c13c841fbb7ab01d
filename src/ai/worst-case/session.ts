// The most that a response of a Realtime session may spend, from the events of its client so far.

import { isObject } from '../../base/text/json.ts'
import type { WorstUsage } from '../usage/prices.ts'
import { noSpending } from './worst-case.ts'

/** Tokens that any model writes at most, and reads at most. */
const usualMaxTokens = 4_096
const longestContext = 131_072
/** Input is counted in steps of so many tokens: each would be another reservation. */
const step = 2_048
/** Bytes of text, and of base64, that a token has at least: of 24 kHz, and of telephones. */
const bytesOfToken = 2
const bytesOfSound = 4_096
const bytesOfTelephone = 1_024
const tokensOfImage = 5_000

/** What the events of a client have. */
interface Content {
  text: number
  /** Bytes of base64. */
  sound: number
  images: number
  isTelephone: boolean
  /** Tokens that a response may have. */
  maxTokens: number
}

const emptyContent: Content = {
  ...{ text: 0, sound: 0, images: 0 },
  ...{ isTelephone: false, maxTokens: usualMaxTokens },
}

export class SessionWorstCase {
  #content = emptyContent
  #contentBefore = this.#content
  #written = 0
  /** What the provider says of itself; the client may have said it, too. */
  #settings = this.#content

  /** Takes an event of the client; true if it asks for a response. */
  take(text: string): boolean {
    const event = parse(text)
    this.#contentBefore = this.#content
    const content = { ...this.#content }
    this.#content = content
    content.text += Buffer.byteLength(text)
    if (!isObject(event)) return false
    if (telephone.test(text)) content.isTelephone = true
    findSettings(content, event, 0)
    countMedia(content, event)
    return event.type === 'response.create'
  }

  /** Takes the settings as the provider has them: their instructions and tools are read, too. */
  takeSettings(settings: object): void {
    const content = { ...emptyContent, text: Buffer.byteLength(JSON.stringify(settings)) }
    findSettings(content, settings, 0)
    this.#settings = content
  }

  /** Forgets the last event: its provider does not get it. */
  takeBack(): void {
    this.#content = this.#contentBefore
  }

  /** What a response has written is input of the next one. */
  responded(tokensOut: number): void {
    this.#written += tokensOut
  }

  /** Of a response that begins now. */
  get ahead(): WorstUsage {
    const { text, sound, images } = this.#content
    const isTelephone = this.#content.isTelephone || this.#settings.isTelephone
    const maxTokens = Math.max(this.#content.maxTokens, this.#settings.maxTokens)
    const heard = Math.ceil(sound / (isTelephone ? bytesOfTelephone : bytesOfSound))
    const read = Math.ceil((text + this.#settings.text) / bytesOfToken) + images * tokensOfImage
    const audioIn = roundedUp(heard + this.#written)
    const tokensIn = Math.min(longestContext, audioIn + roundedUp(read))
    return {
      ...{ ...noSpending, tokensIn, audioIn: Math.min(audioIn, tokensIn) },
      ...{ tokensOut: maxTokens, audioOut: maxTokens },
    }
  }
}

/** Finds the maximum of output, and the format of sound. */
function findSettings(content: Content, value: object, depth: number): void {
  if (depth > deepest) return
  for (const [name, member] of Object.entries(value)) {
    if (typeof member === 'object' && member !== null) findSettings(content, member, depth + 1)
    else if (typeof member === 'number' && limits.has(name))
      content.maxTokens = Math.max(content.maxTokens, bounded(member))
    else if (typeof member === 'string' && member.length <= longestFormat && telephone.test(member))
      content.isTelephone = true
  }
}

type Event = Readonly<Record<string, unknown>>

/** Takes sound and images out of the text, where the API has them: anywhere else, the model reads text. */
function countMedia(content: Content, { type, audio, item, response }: Event): void {
  if (type === 'input_audio_buffer.append') countSound(content, audio)
  const input = isObject(response) && Array.isArray(response.input) ? response.input : none
  for (const message of [item, ...input]) {
    const parts: readonly unknown[] =
      isObject(message) && Array.isArray(message.content) ? message.content : none
    for (const part of parts) if (isObject(part)) countPart(content, part)
  }
}

function countPart(content: Content, { type, audio, image_url: image }: Event): void {
  if (type === 'input_audio') countSound(content, audio)
  if (type !== 'input_image') return
  content.images++
  if (typeof image === 'string' && image.startsWith('data:image/')) content.text -= image.length
}

function countSound(content: Content, audio: unknown): void {
  if (typeof audio !== 'string') return
  content.sound += audio.length
  content.text -= audio.length
}

const telephone = /g711|audio\/pcm[ua]/i
const longestFormat = 64
const none: readonly unknown[] = []
const limits: ReadonlySet<string> = new Set(['max_output_tokens', 'max_response_output_tokens'])
/** No event has its settings as deep. */
const deepest = 16

/** No response is longer than the context; 1e999 is a number of JSON, too. */
function bounded(tokens: number): number {
  return Math.min(longestContext, Math.ceil(tokens))
}

function roundedUp(tokens: number): number {
  return Math.ceil(tokens / step) * step
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
