// Reads what decides the worst case in the bytes of a JSON request, in one pass. All duplicates of a member
// count: JSON.parse keeps the last one, and the reader of a provider may keep another.

import { skipSpace, type Span, stringEnd } from '../parsing/json-members.ts'
import { MemberNames } from './member-names.ts'

/** A top-level member that bears on the worst case. */
export interface ScannedMember extends Span {
  readonly name: TopName
  readonly isExact: boolean
}

const topNames = [
  'model',
  'models',
  'fallbacks',
  'fallback_models',
  'providerOptions',
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'max_response_output_tokens',
  'max_gen_len',
  'generationConfig',
  'options',
  'inferenceConfig',
  'textGenerationConfig',
  'additionalModelRequestFields',
  'n',
  'best_of',
  'num_generations',
  'prompt',
  'prediction',
  'input',
  'service_tier',
  'speed',
  'inference_geo',
  'modalities',
  'output_modalities',
  'web_search_options',
  'plugins',
  'mcp_servers',
  'max_tool_calls',
  'tools',
  'previous_response_id',
  'conversation',
  'cachedContent',
  'context_management',
  'compaction',
] as const
export type TopName = (typeof topNames)[number]

const tops = new MemberNames<TopName>({
  ...(Object.fromEntries(topNames.map(name => [name, name])) as Record<TopName, TopName>),
  generation_config: 'generationConfig',
  cached_content: 'cachedContent',
})

/**
 * Of an image, a file or sound: its address or id, or itself in base64; `carrier` contains one of these, of
 * which some have names that mean this only there.
 */
type Part =
  | ('address' | 'bytes' | 'carrier' | 'carried_address' | 'carried_bytes')
  | ('cache' | 'opaque' | 'tool_input' | 'function_response')

const parts = new MemberNames<Part>({
  ...named('address', ['image_url', 'video_url', 'audio_url', 'document_url', 'file_url', 'image']),
  ...named('address', ['file_id', 'fileUri', 'file_uri']),
  ...named('bytes', ['images', 'file_data']),
  ...named('carried_address', ['url', 'uri', 'id']),
  ...named('carried_bytes', ['data', 'bytes']),
  ...named('carrier', [
    ...['source', 'file', 'document', 'audio', 'video', 'input_audio', 's3Location'],
    ...['inlineData', 'inline_data', 'fileData'],
  ]),
  ...named('cache', ['cache_control', 'cachePoint']),
  // Text to each provider, whatever its members are called.
  ...named('opaque', [
    ...['parameters', 'parametersJsonSchema', 'input_schema', 'inputSchema', 'schema', 'json_schema'],
    ...['args', 'arguments', 'annotations', 'citations', 'metadata', 'json'],
  ]),
  input: 'tool_input',
  response: 'function_response',
})

/** Of one tool. */
type ToolPart = 'type' | 'model' | 'max_uses' | 'hosted' | 'search' | 'cache'

const toolParts = new MemberNames<ToolPart>({
  type: 'type',
  model: 'model',
  max_uses: 'max_uses',
  ...named('search', ['googleSearch', 'google_search', 'googleSearchRetrieval', 'google_search_retrieval']),
  ...named('search', ['enterpriseWebSearch', 'enterprise_web_search']),
  ...named('hosted', ['urlContext', 'url_context', 'codeExecution', 'code_execution', 'googleMaps']),
  ...named('hosted', ['google_maps', 'fileSearch', 'file_search', 'computerUse', 'computer_use']),
  ...named('cache', ['cache_control', 'cachePoint']),
})

function named<Meaning>(meaning: Meaning, names: readonly string[]): Readonly<Record<string, Meaning>> {
  return Object.fromEntries(names.map(name => [name, meaning]))
}

/** What depends on the API. */
interface ApiTraits {
  /** Members of parts that are text here: the input of a tool call may be an object. */
  readonly toolInput: boolean
  readonly functionResponse: boolean
  readonly usesLimit: 'max_uses' | 'max_tool_calls' | null
}

/** Of no API that writes text. */
export const textOnly: ApiTraits = { toolInput: false, functionResponse: false, usesLimit: null }

/** Where a value is: in a part that is an image, a file or sound, or the medium itself; or in mere text. */
type Place = 'outside' | 'carrier' | 'address' | 'bytes' | 'opaque'

export class RequestScan {
  readonly json: Buffer
  readonly members: ScannedMember[] = []
  /** Where the first member may be put. */
  start = 0
  isEmpty = false
  /** Images, files and sounds by their address or id, of which nothing else is known. */
  references = 0
  /** Those that are in the request, and their bytes there. */
  inline = 0
  inlineBytes = 0
  hasCacheMark = false
  hasTools = false
  readonly modelsOfTools: Span[] = []
  /** The most that the provider may use all tools that it runs; and those that search the web. */
  hostedUses = 0
  searchUses = 0
  readonly #api: ApiTraits
  #isBroken = false

  constructor(json: Buffer, api: ApiTraits) {
    this.json = json
    this.#api = api
  }

  /**
   * False for anything but one object as RFC 8259 has it, but for what is inside its texts and numbers, which
   * cannot change where they end: a provider that reads more than JSON then still reads the same members.
   */
  read(): boolean {
    const { json } = this
    const brace = skipSpace(json, 0)
    if (json[brace] !== braceStart) return false
    this.start = brace + 1
    const end = this.#members(brace, isTop)
    return !this.#isBroken && skipSpace(json, end) === json.length
  }

  /** Of an object; returns its end. `level` counts what it is in; of tools and of the request it is odd. */
  #members(start: number, level: number, place: Place = 'outside'): number {
    const { json } = this
    let at = skipSpace(json, start + 1)
    if (json[at] === braceEnd) {
      if (level === isTop) this.isEmpty = true
      return at + 1
    }
    const tool = level === isTool ? new Tool() : null
    while (json[at] === quote) {
      const nameEnd = stringEnd(json, at)
      let valueStart = json[nameEnd] === colon ? nameEnd : skipSpace(json, nameEnd)
      if (json[valueStart] !== colon) return this.#break()
      if (json[++valueStart]! <= space) valueStart = skipSpace(json, valueStart)
      const end =
        level === isTop
          ? this.#top(at, nameEnd, valueStart)
          : tool !== null
            ? this.#toolMember(tool, at, nameEnd, valueStart)
            : this.#member(at, nameEnd, valueStart, place, level)
      at = json[end]! <= space ? skipSpace(json, end) : end
      if (json[at] === comma) {
        if (json[++at]! <= space) at = skipSpace(json, at)
      } else if (json[at] === braceEnd) {
        if (tool !== null) this.#noteTool(tool)
        return at + 1
      } else break
    }
    return this.#break()
  }

  #break(): number {
    this.#isBroken = true
    return this.json.length
  }

  #top(nameStart: number, nameEnd: number, start: number): number {
    const top = tops.at(this.json, nameStart, nameEnd)
    if (top === null) return this.#member(nameStart, nameEnd, start, 'outside', 2)
    const { meaning: name, isExact } = top
    const end = name === 'tools' ? this.#tools(start) : this.#member(nameStart, nameEnd, start, 'outside', 2)
    this.members.push({ name, isExact, start, end })
    return end
  }

  #member(nameStart: number, nameEnd: number, start: number, place: Place, level: number): number {
    const part = place === 'opaque' ? null : parts.at(this.json, nameStart, nameEnd)
    // What is in a list of media or in an object that is named as one.
    const within = place === 'outside' || place === 'opaque' ? place : 'carrier'
    if (part === null) return this.#value(start, within, level)
    switch (part.meaning) {
      case 'address':
        return this.#value(start, 'address', level)
      case 'bytes':
        return this.#value(start, 'bytes', level)
      case 'carried_address':
        return this.#value(start, within === 'carrier' ? 'address' : within, level)
      case 'carried_bytes':
        return this.#value(start, within === 'carrier' ? 'bytes' : within, level)
      case 'carrier':
        return this.#value(start, 'carrier', level)
      case 'cache':
        this.hasCacheMark = true
        return this.#value(start, within, level)
      default:
        return this.#value(
          start,
          part.isExact && level > 2 && this.#isOpaque(part.meaning) ? 'opaque' : within,
          level,
        )
    }
  }

  #isOpaque(part: Part): boolean {
    if (part === 'tool_input') return this.#api.toolInput
    return part === 'function_response' ? this.#api.functionResponse : true
  }

  #value(start: number, place: Place, level: number): number {
    const { json } = this
    const first = json[start]
    if (first === quote) {
      const end = stringEnd(json, start)
      if (place === 'address' || place === 'bytes') this.#medium(start, end, place)
      return end
    }
    if (first === braceStart) return level > deepest ? this.#break() : this.#members(start, level + 2, place)
    if (first === bracket) return level > deepest ? this.#break() : this.#list(start, place, level)
    return this.#scalar(start)
  }

  #list(start: number, place: Place, level: number): number {
    const { json } = this
    let at = skipSpace(json, start + 1)
    if (json[at] === bracketEnd) return at + 1
    while (at < json.length) {
      const end = this.#value(at, place, level + 2)
      at = skipSpace(json, end)
      if (json[at] === bracketEnd) return at + 1
      if (json[at] !== comma) break
      at = skipSpace(json, at + 1)
    }
    return this.#break()
  }

  /** Of a number, true, false or null. */
  #scalar(start: number): number {
    const { json } = this
    let at = start
    while (isOfScalar(json[at])) at++
    return at === start ? this.#break() : at
  }

  #medium(start: number, end: number, medium: 'address' | 'bytes'): void {
    const length = end - start - 2
    const beginning = this.json.toString('latin1', start + 1, Math.min(end - 1, start + 1 + longestScheme))
    const isAddress =
      beginning.includes('://') ||
      beginning.includes('\\') ||
      (medium === 'address' && length <= longestAddress && !beginning.startsWith('data:'))
    if (isAddress) this.references++
    else {
      this.inline++
      this.inlineBytes += length
    }
  }

  #tools(start: number): number {
    const { json } = this
    if (json[start] === braceStart) return this.#members(start, isTool)
    if (json[start] !== bracket) return this.#value(start, 'opaque', 2)
    let at = skipSpace(json, start + 1)
    if (json[at] === bracketEnd) return at + 1
    while (at < json.length) {
      const end = json[at] === braceStart ? this.#members(at, isTool) : this.#value(at, 'opaque', 2)
      at = skipSpace(json, end)
      if (json[at] === bracketEnd) return at + 1
      if (json[at] !== comma) break
      at = skipSpace(json, at + 1)
    }
    return this.#break()
  }

  #toolMember(tool: Tool, nameStart: number, nameEnd: number, start: number): number {
    const { json } = this
    const end = this.#value(start, 'opaque', 4)
    const part = toolParts.at(json, nameStart, nameEnd)
    switch (part?.meaning) {
      case undefined:
        break
      case 'type':
        tool.noteType(json.toString('latin1', start + 1, end - 1))
        break
      case 'model':
        this.modelsOfTools.push({ start, end })
        break
      case 'max_uses':
        tool.noteUses(Number(json.toString('latin1', start, end)), this.#limitsUses && part!.isExact)
        break
      case 'cache':
        this.hasCacheMark = true
        break
      case 'search':
        tool.isSearch = true
        tool.isHosted = true
        break
      case 'hosted':
        tool.isHosted = true
    }
    return end
  }

  get #limitsUses(): boolean {
    return this.#api.usesLimit === 'max_uses'
  }

  #noteTool({ isHosted, isSearch, uses }: Tool): void {
    this.hasTools = true
    if (!isHosted) return
    this.hostedUses += uses ?? usualUses
    if (isSearch) this.searchUses += uses ?? usualUses
  }
}

class Tool {
  /** Whether the provider runs it. */
  isHosted = false
  isSearch = false
  /** Null if the request does not say. */
  uses: number | null = null

  noteType(type: string): void {
    this.isHosted ||= !ranByCallers.test(type)
    this.isSearch ||= type.includes('\\') || searches.test(type)
  }

  /** A limit that is not read as one leaves the usual uses. */
  noteUses(value: number, isRead: boolean): void {
    const isNumber = Number.isSafeInteger(value) && value > 0
    const minUses = isRead && isNumber ? 0 : usualUses
    this.uses = Math.max(this.uses ?? 0, minUses, isNumber ? value : 0)
  }
}

/** Uses of a tool that the provider runs where the request does not say, which is where Claude pauses. */
export const usualUses = 10

const ranByCallers =
  /^(?:function|custom|local_shell|shell|apply_patch|namespace|(?:bash|text_editor|computer|memory)(?:_\w+)?)$/
const searches = /^(?!tool_search|file_search)\w*search/

/** Digits, letters, and what numbers have besides. */
function isOfScalar(byte: number | undefined): boolean {
  if (byte === undefined) return false
  const isDigit = byte >= 0x30 && byte <= 0x39
  return isDigit || (byte >= 0x61 && byte <= 0x7a) || byte === 0x45 || byte === 0x2b || isSign(byte)
}

function isSign(byte: number): boolean {
  return byte === 0x2d || byte === 0x2e
}

/** Anything longer is the medium itself. */
const longestAddress = 2048
/** As in gs://. */
const longestScheme = 16

const isTop = 1
const isTool = 3
/** Twice what requests may nest. */
const deepest = 512

const space = 0x20
const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const bracket = 0x5b
const bracketEnd = 0x5d
const braceStart = 0x7b
const braceEnd = 0x7d
