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

export class SessionWorstCase {
  #text = 0
  /** Bytes of base64. */
  #sound = 0
  #images = 0
  #isTelephone = false
  #written = 0
  #most = usualMost

  /** Takes an event of the client; true if it asks for a response. */
  take(text: string): boolean {
    const event = parse(text)
    this.#text += Buffer.byteLength(text)
    if (!isObject(event)) return false
    if (telephone.test(text)) this.#isTelephone = true
    this.#findSettings(event, 0)
    this.#countMedia(event)
    return event.type === 'response.create'
  }

  /** What a response has written is input of the next one. */
  responded(tokensOut: number): void {
    this.#written += tokensOut
  }

  /** Of a response that begins now. */
  get ahead(): WorstUsage {
    const sound = Math.ceil(this.#sound / (this.#isTelephone ? bytesOfTelephone : bytesOfSound))
    const text = Math.ceil(this.#text / bytesOfToken) + this.#images * tokensOfImage
    const audioIn = roundedUp(sound + this.#written)
    const tokensIn = Math.min(longestContext, audioIn + roundedUp(text))
    return {
      ...{ ...noSpending, tokensIn, audioIn: Math.min(audioIn, tokensIn) },
      ...{ tokensOut: this.#most, audioOut: this.#most },
    }
  }

  /** Finds the maximum of output, and the format of sound. */
  #findSettings(value: object, depth: number): void {
    if (depth > deepest) return
    for (const [name, member] of Object.entries(value)) {
      if (typeof member === 'object' && member !== null) this.#findSettings(member, depth + 1)
      else if (typeof member === 'number' && limits.has(name))
        this.#most = Math.max(this.#most, bounded(member))
      else if (typeof member === 'string' && member.length <= longestFormat && telephone.test(member))
        this.#isTelephone = true
    }
  }

  /** Takes sound and images out of the text, where the API has them: anywhere else, the model reads text. */
  #countMedia({ type, audio, item, response }: Readonly<Record<string, unknown>>): void {
    if (type === 'input_audio_buffer.append') this.#countSound(audio)
    const input = isObject(response) && Array.isArray(response.input) ? response.input : none
    for (const message of [item, ...input])
      if (isObject(message) && Array.isArray(message.content)) message.content.forEach(this.#countPart)
  }

  readonly #countPart = (part: unknown): void => {
    if (!isObject(part)) return
    if (part.type === 'input_audio') this.#countSound(part.audio)
    if (part.type !== 'input_image') return
    this.#images++
    const { image_url: image } = part
    if (typeof image === 'string' && image.startsWith('data:image/')) this.#text -= image.length
  }

  #countSound(audio: unknown): void {
    if (typeof audio !== 'string') return
    this.#sound += audio.length
    this.#text -= audio.length
  }
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
