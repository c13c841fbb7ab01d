// Reads what decides the worst case in the bytes of a JSON request, in one pass. All duplicates of a member
// count: JSON.parse keeps the last one, and the reader of a provider may keep another.

import { skipSpace, type Span } from '../../base/json/members.ts'
import { JsonStructure } from '../../base/json/structure.ts'
import { MemberNames } from '../../base/json/member-names.ts'

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

/**
 * Where a value is: in a part that is an image, a file or sound, or the medium itself; in mere text; or in a
 * tool. The request is a place of its own.
 */
type Place = 'request' | 'outside' | 'carrier' | 'address' | 'bytes' | 'opaque' | 'tools' | Tool

export class RequestScan extends JsonStructure<Place> {
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

  constructor(json: Buffer, api: ApiTraits) {
    super(json)
    this.#api = api
  }

  /** False for anything but one object. */
  read(): boolean {
    const { json } = this
    const brace = skipSpace(json, 0)
    if (json[brace] !== braceStart) return false
    this.start = brace + 1
    this.isEmpty = json[skipSpace(json, this.start)] === braceEnd
    const end = this.object(brace, 'request', 1)
    return !this.isBroken && skipSpace(json, end) === json.length
  }

  protected override member(
    nameStart: number,
    nameEnd: number,
    start: number,
    place: Place,
    depth: number,
  ): number {
    if (place === 'request') return this.#top(nameStart, nameEnd, start, depth)
    if (typeof place === 'object') return this.#toolMember(place, nameStart, nameEnd, start, depth)
    return this.#part(nameStart, nameEnd, start, place, depth)
  }

  #top(nameStart: number, nameEnd: number, start: number, depth: number): number {
    const top = tops.at(this.json, nameStart, nameEnd)
    if (top === null) return this.#part(nameStart, nameEnd, start, 'outside', depth)
    const { meaning: name, isExact } = top
    const end =
      name === 'tools' ? this.#tools(start) : this.#part(nameStart, nameEnd, start, 'outside', depth)
    this.members.push({ name, isExact, start, end })
    return end
  }

  #part(nameStart: number, nameEnd: number, start: number, place: Place, depth: number): number {
    const part = place === 'opaque' ? null : parts.at(this.json, nameStart, nameEnd)
    // What is in a list of media or in an object that is named as one.
    const within = place === 'outside' || place === 'opaque' ? place : 'carrier'
    if (part === null) return this.value(start, within, depth)
    switch (part.meaning) {
      case 'address':
        return this.value(start, 'address', depth)
      case 'bytes':
        return this.value(start, 'bytes', depth)
      case 'carried_address':
        return this.value(start, within === 'carrier' ? 'address' : within, depth)
      case 'carried_bytes':
        return this.value(start, within === 'carrier' ? 'bytes' : within, depth)
      case 'carrier':
        return this.value(start, 'carrier', depth)
      case 'cache':
        this.hasCacheMark = true
        return this.value(start, within, depth)
      default:
        return this.value(
          start,
          part.isExact && depth > 1 && this.#isOpaque(part.meaning) ? 'opaque' : within,
          depth,
        )
    }
  }

  #isOpaque(part: Part): boolean {
    if (part === 'tool_input') return this.#api.toolInput
    return part === 'function_response' ? this.#api.functionResponse : true
  }

  protected override text(start: number, end: number, place: Place): void {
    if (place !== 'address' && place !== 'bytes') return
    const length = end - start - 2
    const beginning = this.json.toString('latin1', start + 1, Math.min(end - 1, start + 1 + longestScheme))
    const isAddress =
      beginning.includes('://') ||
      beginning.includes('\\') ||
      (place === 'address' && length <= longestAddress && !beginning.startsWith('data:'))
    if (isAddress) this.references++
    else {
      this.inline++
      this.inlineBytes += length
    }
  }

  #tools(start: number): number {
    const first = this.json[start]
    if (first === braceStart) return this.#tool(start)
    return first === bracket ? this.list(start, 'tools', 0) : this.value(start, 'opaque', 1)
  }

  protected override element(start: number, place: Place, depth: number): number {
    if (place !== 'tools') return this.value(start, place, depth)
    return this.json[start] === braceStart ? this.#tool(start) : this.value(start, 'opaque', depth)
  }

  #tool(start: number): number {
    const tool = new Tool()
    const end = this.object(start, tool, 2)
    this.#noteTool(tool)
    return end
  }

  #toolMember(tool: Tool, nameStart: number, nameEnd: number, start: number, depth: number): number {
    const { json } = this
    const end = this.value(start, 'opaque', depth)
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

/** Anything longer is the medium itself. */
const longestAddress = 2048
/** As in gs://. */
const longestScheme = 16

const bracket = 0x5b
const braceStart = 0x7b
const braceEnd = 0x7d
