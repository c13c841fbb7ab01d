// The most that a response of a Realtime session may spend, from the events of its client so far.

import { isObject } from '../../base/text/json.ts'
import type { WorstUsage } from '../usage/prices.ts'
import { noSpending } from './worst-case.ts'

/** Tokens that any model writes at most, and reads at most. */
const usualMost = 4_096
const longestContext = 131_072
/** Input is counted in steps of so many tokens: each would be another reservation. */
const step = 2_048
/** Bytes of text, and of base64, that a token has at least: of 24 kHz, and of telephones. */
const bytesOfToken = 2
const bytesOfSound = 4_096
const bytesOfTelephone = 1_024
const tokensOfImage = 5_000

/** What the events of a client have. */
interface Said {
  text: number
  /** Bytes of base64. */
  sound: number
  images: number
  isTelephone: boolean
  /** Tokens that a response may have. */
  most: number
}

export class SessionWorstCase {
  #said: Said = { text: 0, sound: 0, images: 0, isTelephone: false, most: usualMost }
  #saidBefore = this.#said
  #written = 0

  /** Takes an event of the client; true if it asks for a response. */
  take(text: string): boolean {
    const event = parse(text)
    this.#saidBefore = this.#said
    const said = { ...this.#said }
    this.#said = said
    said.text += Buffer.byteLength(text)
    if (!isObject(event)) return false
    if (telephone.test(text)) said.isTelephone = true
    findSettings(said, event, 0)
    countMedia(said, event)
    return event.type === 'response.create'
  }

  /** Forgets the last event: its provider does not get it. */
  takeBack(): void {
    this.#said = this.#saidBefore
  }

  /** What a response has written is input of the next one. */
  responded(tokensOut: number): void {
    this.#written += tokensOut
  }

  /** Of a response that begins now. */
  get ahead(): WorstUsage {
    const { text, sound, images, isTelephone, most } = this.#said
    const heard = Math.ceil(sound / (isTelephone ? bytesOfTelephone : bytesOfSound))
    const read = Math.ceil(text / bytesOfToken) + images * tokensOfImage
    const audioIn = roundedUp(heard + this.#written)
    const tokensIn = Math.min(longestContext, audioIn + roundedUp(read))
    return {
      ...{ ...noSpending, tokensIn, audioIn: Math.min(audioIn, tokensIn) },
      ...{ tokensOut: most, audioOut: most },
    }
  }
}

/** Finds the maximum of output, and the format of sound. */
function findSettings(said: Said, value: object, depth: number): void {
  if (depth > deepest) return
  for (const [name, member] of Object.entries(value)) {
    if (typeof member === 'object' && member !== null) findSettings(said, member, depth + 1)
    else if (typeof member === 'number' && limits.has(name)) said.most = Math.max(said.most, bounded(member))
    else if (typeof member === 'string' && member.length <= longestFormat && telephone.test(member))
      said.isTelephone = true
  }
}

type Event = Readonly<Record<string, unknown>>

/** Takes sound and images out of the text, where the API has them: anywhere else, the model reads text. */
function countMedia(said: Said, { type, audio, item, response }: Event): void {
  if (type === 'input_audio_buffer.append') countSound(said, audio)
  const input = isObject(response) && Array.isArray(response.input) ? response.input : none
  for (const message of [item, ...input]) {
    const parts: readonly unknown[] =
      isObject(message) && Array.isArray(message.content) ? message.content : none
    for (const part of parts) if (isObject(part)) countPart(said, part)
  }
}

function countPart(said: Said, { type, audio, image_url: image }: Event): void {
  if (type === 'input_audio') countSound(said, audio)
  if (type !== 'input_image') return
  said.images++
  if (typeof image === 'string' && image.startsWith('data:image/')) said.text -= image.length
}

function countSound(said: Said, audio: unknown): void {
  if (typeof audio !== 'string') return
  said.sound += audio.length
  said.text -= audio.length
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
