// The most that a call may spend, before it is sent: tokens, and what decides their price.

import { isUtf8 } from 'node:buffer'
import { memoizeLast } from '../../base/memo.ts'
import { boundaryOf, type FormPart, partsOf } from '../parsing/multipart.ts'
import { elementsAt, membersAt, type Span, textAt } from '../../base/json/members.ts'
import { folded } from '../../base/json/member-names.ts'
import { type Insertion, type OutputLimit, outputLimit } from './max-tokens.ts'
import { type Media, mediaIn, tokensOfReference } from './media.ts'
import { operationOf, type Writing } from './operations.ts'
import { modelsNamed, type OtherModels, otherModelsOf } from './other-models.ts'
import { RequestScan, type ScannedMember, textOnly, type TopName, usualUses } from './request-scan.ts'
import { premiumOf } from '../usage/price-rows.ts'
import type { WorstUsage } from '../usage/prices.ts'

/** As it is sent to the provider. */
interface PricedCall {
  readonly provider: string
  /** As the provider names it; null if nothing but the body may. */
  readonly model: string | null
  /** Then the body does not name it. */
  readonly isNamedInPath: boolean
  /** May have a query. */
  readonly path: string
  /** Null for JSON. */
  readonly contentType: string | null
  readonly body: Buffer
  /** Of gateways; for requests without a limit. */
  readonly defaultMaxTokens: number
}

export interface WorstCase extends WorstUsage {
  /** Null if it cannot be known. */
  readonly model: string | null
  /** Those that the provider may use in its place. */
  readonly otherModels: OtherModels
  /** Tokens of one response, as they will be sent; null for calls that take no such limit. */
  readonly limit: number | null
  /** To be sent, so that the output has a limit. */
  readonly insert: Insertion | null
}

/** Of calls that spend nothing. */
export const noSpending: WorstCase = {
  model: null,
  otherModels: [],
  limit: null,
  insert: null,
  tokensIn: 0,
  tokensOut: 0,
  audioIn: 0,
  audioOut: 0,
  searches: 0,
  cacheWrites: 'none',
  tier: null,
}

/**
 * Null if the spending of a call has no known bound: of unknown operations, and of bodies that are neither a
 * JSON object nor a form. A token of input has two bytes or more, as in all but random text. Never throws.
 */
export function worstCaseOf(call: PricedCall): WorstCase | null {
  const { provider, path, body, contentType } = call
  let operation = operationOf(provider, call.model, path)
  if (operation === null) return null
  if (operation.kind === 'free') return noSpending
  if (contentType !== null && !isPlainJson(contentType)) {
    const boundary = boundaryOf(contentType)
    return boundary === null ? null : worstOfForm(operation.kind, call, boundary)
  }
  if (!isUtf8(body)) return null
  const scan = new RequestScan(body, operation.kind === 'writing' ? operation : textOnly)
  if (!scan.read()) return null
  const model = call.model ?? (call.isNamedInPath ? null : modelIn(scan))
  if (call.model === null && model !== null) operation = operationOf(provider, model, path)!
  const isAmbiguous = model === null && !call.isNamedInPath
  const otherModels = isAmbiguous ? [...modelsNamed(scan), ...otherModelsOf(scan)] : otherModelsOf(scan)
  const media = mediaIn(scan, model ?? '')
  if (operation.kind === 'writing') return worstOfWriting(call, operation, scan, media, model, otherModels)
  const tokensIn = tokensOfText(body.length - media.bytes) + media.tokens
  switch (operation.kind) {
    case 'images':
      return {
        ...noSpending,
        model,
        otherModels,
        tokensIn,
        tokensOut: product(numberOf(scan, 'n'), tokensOfMadeImage),
      }
    case 'speech': {
      const tokensOut = product(body.length, tokensOfSpokenByte)
      return { ...noSpending, model, otherModels, tokensIn, tokensOut, audioOut: tokensOut }
    }
    case 'reading':
      return {
        ...noSpending,
        model,
        otherModels,
        tokensIn: tokensIn - excessOfIds(scan),
        audioIn: media.audio,
        cacheWrites: 'short',
      }
    default:
      return null
  }
}

/** Another charset may have other characters where this one has quotes. */
export const isPlainJson = memoizeLast((contentType: string) => plainJson.test(contentType))
const plainJson =
  /^application\/(?:[\w.+-]+\+)?json[ \t]*(?:;[ \t]*charset=(?:"utf-8"|utf-8|us-ascii)[ \t]*)?;?$/i

/** As `readRequest` takes it: given once, and a string of usual length. */
function modelIn(scan: RequestScan): string | null {
  let model: ScannedMember | null = null
  for (const member of scan.members) {
    if (member.name !== 'model') continue
    if (model !== null || !member.isExact) return null
    model = member
  }
  if (model === null) return null
  const { start, end } = model
  if (end - start > longestModel) return null
  if (lastModel !== null && isAt(scan.json, start, end, lastModel.bytes)) return lastModel.text
  const text = textAt(scan.json, { start, end })
  if (text === null || text === '') return null
  lastModel = { bytes: Buffer.from(scan.json.subarray(start, end)), text }
  return text
}

/** Most calls are like the one before. */
let lastModel: { readonly bytes: Buffer; readonly text: string } | null = null

function isAt(json: Buffer, start: number, end: number, bytes: Buffer): boolean {
  if (bytes.length !== end - start) return false
  for (let i = 0; i < bytes.length; i++) if (json[start + i] !== bytes[i]) return false
  return true
}

/** Of the name with its quotes, which may have characters of several bytes. */
const longestModel = 1024

/** Of the largest image in the best quality, with partial ones. */
const tokensOfMadeImage = 6600
/** Slow speech has more than a second for three letters. */
const tokensOfSpokenByte = 8

function worstOfWriting(
  { body, defaultMaxTokens }: PricedCall,
  operation: Writing,
  scan: RequestScan,
  media: Media,
  model: string | null,
  otherModels: OtherModels,
): WorstCase | null {
  const limit = limitOfWriting(scan, operation, defaultMaxTokens)
  if (limit === null) return null
  const responses = product(timesIn(scan, operation) * candidatesIn(scan, operation), promptsIn(scan))
  const rejected = lengthOf(scan, 'prediction')
  const written = product(sum(limit.tokens, rejected), responses)
  const uses = hostedUses(scan, operation, model)
  const given = sum(tokensOfText(body.length - media.bytes), media.tokens)
  const once = sum(given, overheadOf(scan) + elsewhereOf(scan))
  // The model reads all again after each use of a tool that the provider runs, and what it had written.
  const tokensIn =
    uses.all === 0
      ? once
      : sum(
          product(once, uses.all + 1),
          sum(product(tokensOfResult, (uses.all * (uses.all + 1)) / 2), product(written, uses.all)),
        )
  const times = mayCompact(scan) ? 2 : 1
  return {
    model,
    otherModels,
    tokensIn: product(tokensIn, times),
    tokensOut: product(written, times),
    limit: limit.tokens,
    audioIn: media.audio === 0 || uses.all === 0 ? media.audio : tokensIn,
    audioOut: speaks(scan) ? written : 0,
    searches: uses.searches,
    cacheWrites: cacheWritesOf(scan, operation),
    tier: tierOf(scan),
    insert: limit.insert,
  }
}

/** Whether the model may read all once more, to write a summary. */
function mayCompact({ json, members }: RequestScan): boolean {
  for (const { name, start, end } of members) {
    if (name === 'compaction' && json[start] !== letterN) return true
    if (name === 'context_management' && /compact|\\/.test(json.toString('latin1', start, end))) return true
  }
  return false
}

function cacheWritesOf(
  { json, hasCacheMark }: RequestScan,
  { cachesIfMarked }: Writing,
): WorstCase['cacheWrites'] {
  if (!hasCacheMark) return cachesIfMarked ? 'none' : 'short'
  return json.includes('"1h"') || json.includes('\\u00') ? 'long' : 'short'
}

function tokensOfText(bytes: number): number {
  return Math.ceil(Math.max(0, bytes) / bytesOfToken)
}

/** The least of real text; with its quotes and names, a request has more. */
const bytesOfToken = 2

/** Instructions that providers add, most of all for tools. */
function overheadOf({ hasTools }: RequestScan): number {
  return hasTools ? 1000 : 100
}

/** Of earlier turns, a prompt or a cache that the provider has: the request only names them. */
function elsewhereOf(scan: RequestScan): number {
  for (const member of scan.members) if (isElsewhere(scan.json, member)) return tokensElsewhere
  return 0
}

function isElsewhere(json: Buffer, member: ScannedMember): boolean {
  const { name, start } = member
  if (name === 'prompt') return json[start] === brace
  if (name === 'input') return json[start] === bracket && hasReference(json, member)
  return nameElsewhere.has(name) && json[start] !== letterN
}

function hasReference(json: Buffer, input: Span): boolean {
  if (json.includes(reference)) return true
  const hasEscapes = json.includes('\\u00')
  if ((hasEscapes || json.includes('"id"')) && hasBareReference(json, input)) return true
  if (!hasEscapes) return false
  for (const [text] of json.toString('latin1').matchAll(fourteenLetters))
    if (JSON.parse(text) === reference) return true
  return false
}

/** Whether an item has an id, and not what it is about: the provider then takes that from its store. */
function hasBareReference(json: Buffer, input: Span): boolean {
  return elementsAt(json, input).some(({ start, end }) => {
    if (json[start] !== brace) return false
    const members = membersAt(json, { start, end })
    const isSaid = members.some(({ name, start }) => ofItems.has(name) && json[start] !== letterN)
    return !isSaid && members.some(({ name }) => name === 'id')
  })
}

/** What messages, reasoning, calls of tools and their results are about. */
const ofItems: ReadonlySet<string> = new Set([
  ...['content', 'encrypted_content', 'arguments', 'input', 'action', 'operation', 'code'],
  ...['output', 'result', 'results', 'tools'],
])
const nameElsewhere: ReadonlySet<TopName> = new Set(['previous_response_id', 'conversation', 'cachedContent'])
const reference = 'item_reference'
const fourteenLetters = /"(?:[a-z_]|\\u00[\da-f]{2}){14}"/gi
/** The context of most models; a larger one is rarely full. */
const tokensElsewhere = 200_000

/** Of a search, or of another tool of the provider. */
const tokensOfResult = 10_000

function limitOfWriting(
  scan: RequestScan,
  { limit, usual }: Writing,
  defaultTokens: number,
): OutputLimit | null {
  const output = outputLimit(scan, limit, defaultTokens)
  if (limit.within === 'inferenceConfig') return withOwnFields(scan, output)
  const isUnlimited = usual !== null && !scan.members.some(({ name }) => limit.names.includes(name))
  return isUnlimited ? { tokens: usual, insert: null } : output
}

/** The model's own members, beside those of the API. */
function withOwnFields(scan: RequestScan, limit: OutputLimit): OutputLimit | null {
  let { tokens } = limit
  for (const fields of named(scan, 'additionalModelRequestFields'))
    for (const { name, start, end } of membersAt(scan.json, fields)) {
      if (!ownLimits.has(folded(name))) continue
      const own = Number(scan.json.toString('latin1', start, end))
      if (!Number.isSafeInteger(own) || own < 0) return null
      tokens = Math.max(tokens, own)
    }
  return { ...limit, tokens }
}

const ownLimits: ReadonlySet<string> = new Set(
  ['max_tokens', 'maxTokens', 'max_new_tokens', 'max_gen_len', 'max_completion_tokens'].map(folded),
)

function named(scan: RequestScan, name: TopName): readonly ScannedMember[] {
  return scan.members.filter(member => member.name === name)
}

/** The largest number of that name; some readers accept it in quotes. */
function numberOf(scan: RequestScan, name: TopName): number {
  let largest = 1
  for (const member of scan.members)
    if (member.name === name) largest = Math.max(largest, countAt(scan.json, member))
  return largest
}

function countAt(json: Buffer, { start, end }: Span): number {
  const text = json.toString('latin1', start, end)
  const number = Number(text[0] === '"' ? text.slice(1, -1) : text)
  return number > 1 ? Math.min(Math.ceil(number), Number.MAX_SAFE_INTEGER) : 1
}

/** The responses that are asked for, under names of the top level. */
function timesIn(scan: RequestScan, { times }: Writing): number {
  let max = 1
  for (const name of times) max = Math.max(max, numberOf(scan, name))
  return max
}

function candidatesIn(scan: RequestScan, { hasCandidates, limit }: Writing): number {
  if (!hasCandidates) return 1
  let max = 1
  for (const config of named(scan, limit.within!))
    for (const member of membersAt(scan.json, config))
      if (candidates.has(folded(member.name))) max = Math.max(max, countAt(scan.json, member))
  return max
}

const candidates: ReadonlySet<string> = new Set(['candidateCount', 'candidate_count'].map(folded))

/** Each text in a list is a prompt of its own. */
function promptsIn(scan: RequestScan): number {
  let max = 1
  const { json } = scan
  for (const prompt of scan.members) {
    if (prompt.name !== 'prompt' || json[prompt.start] !== bracket) continue
    const prompts = elementsAt(json, prompt)
    const isOne = prompts.every(({ start }) => json[start] !== quote && json[start] !== bracket)
    if (!isOne) max = Math.max(max, prompts.length)
  }
  return max
}

function lengthOf(scan: RequestScan, name: TopName): number {
  let longest = 0
  for (const member of scan.members)
    if (member.name === name) longest = Math.max(longest, member.end - member.start)
  return tokensOfText(longest)
}

function hostedUses(
  scan: RequestScan,
  { usesLimit }: Writing,
  model: string | null,
): { readonly all: number; readonly searches: number } {
  if (!mayUseTools(scan, model)) return noUses
  const has = (name: TopName) => scan.members.some(member => member.name === name)
  const isSearching = has('web_search_options') || has('plugins') || model?.endsWith(':online') === true
  const all = scan.hostedUses + (isSearching ? 1 : 0) + (has('mcp_servers') ? usualUses : 0)
  const limit = usesLimit === 'max_tool_calls' ? maxCalls(scan) : maxUses
  return { all: Math.min(all, limit), searches: Math.min(scan.searchUses + (isSearching ? 1 : 0), limit) }
}

const noUses = { all: 0, searches: 0 }

function mayUseTools({ members, hostedUses }: RequestScan, model: string | null): boolean {
  if (hostedUses > 0 || model?.endsWith(':online') === true) return true
  for (const { name } of members) if (bringsTools.has(name)) return true
  return false
}

const bringsTools: ReadonlySet<TopName> = new Set(['web_search_options', 'plugins', 'mcp_servers'])

/** Far more than a provider makes in one call. */
const maxUses = 1000

/** As the request limits them. */
function maxCalls(scan: RequestScan): number {
  const limits = named(scan, 'max_tool_calls')
  if (limits.length === 0) return maxUses
  const numbers = limits.map(({ start, end }) => Number(scan.json.toString('latin1', start, end)))
  const isLimited = limits[0]!.isExact && numbers.every(number => Number.isSafeInteger(number) && number > 0)
  return isLimited ? numbers.reduce((max, number) => Math.min(maxUses, Math.max(max, number)), 1) : maxUses
}

function speaks(scan: RequestScan): boolean {
  for (const { name, start, end } of scan.members) {
    if (name !== 'modalities' && name !== 'output_modalities' && name !== 'generationConfig') continue
    if (soundOrEscape.test(scan.json.toString('latin1', start, end))) return true
  }
  return false
}

const soundOrEscape = /audio|\\/i

/** Of several, a reader may take either. */
function tierOf(scan: RequestScan): string | null {
  if (!scan.members.some(isTier)) return null
  const premium = premiumOf(isOther(scan, 'speed', 'standard'), isOther(scan, 'inference_geo', 'global'))
  if (premium !== null) return premium
  const tiers = named(scan, 'service_tier')
  const [, tier] =
    tiers.length === 1 && tiers[0]!.isExact
      ? (/^"(\w{1,32})"$/.exec(scan.json.toString('latin1', tiers[0]!.start, tiers[0]!.end)) ?? [])
      : []
  return tier ?? null
}

function isTier({ name }: ScannedMember): boolean {
  return name === 'service_tier' || name === 'speed' || name === 'inference_geo'
}

/** Whether any member of a name has something else than the usual text, or null. */
function isOther(scan: RequestScan, name: TopName, usual: string): boolean {
  return named(scan, name).some(({ start, end }) => {
    const text = scan.json.toString('latin1', start, end)
    return text !== `"${usual}"` && text !== 'null'
  })
}

/** By how much lists of token ids are shorter than their text. */
function excessOfIds(scan: RequestScan): number {
  let minExcess: number | null = null
  for (const { start, end } of named(scan, 'input')) {
    const ids = idsIn(scan.json, start, end)
    const excess = ids === null ? 0 : tokensOfText(end - start) - ids
    minExcess = Math.min(minExcess ?? excess, excess)
  }
  return Math.max(0, minExcess ?? 0)
}

/** Null for anything but lists of ids. */
function idsIn(json: Buffer, start: number, end: number): number | null {
  let ids = 0
  let isDigit = false
  for (let at = start; at < end; at++) {
    const byte = json[at]!
    const isNext = byte >= zero && byte <= nine
    if (isNext && !isDigit) ids++
    if (!isNext && byte > space && byte !== comma && byte !== bracket && byte !== bracketEnd) return null
    isDigit = isNext
  }
  return ids
}

function worstOfForm(
  kind: string,
  { body, model: namedModel, isNamedInPath }: PricedCall,
  boundary: string,
): WorstCase | null {
  const parts = partsOf(body, boundary)
  if (parts === null) return null
  const models = parts.filter(({ name }) => folded(name) === folded('model'))
  const isClear = !isNamedInPath && models.length === 1 && models[0]!.name === 'model'
  const model = namedModel ?? (isClear ? body.toString('utf8', models[0]!.start, models[0]!.end) : null)
  if (kind === 'transcription') {
    const ofBody = Math.ceil(body.length / bytesOfHeardToken)
    const audioIn = isSoundElsewhere(parts) ? tokensOfReference : ofBody
    const tokensIn = audioIn + Math.min(tokensOfText(body.length), maxPromptTokens)
    return {
      ...noSpending,
      model,
      tokensIn,
      audioIn,
      tokensOut: sum(Math.ceil((audioIn * bytesOfHeardToken) / bytesOfSpokenToken), 1000),
    }
  }
  if (kind !== 'images') return null
  let made = 1
  let files = 0
  for (const { name, isFile, start, end } of parts) {
    if (isFile) files++
    else if (folded(name) === folded('n')) made = Math.max(made, countAt(body, { start, end }))
  }
  const texts = parts.reduce((bytes, { isFile, start, end }) => bytes + (isFile ? 0 : end - start), 0)
  const tokensIn = sum(tokensOfText(texts), product(files, tokensOfEditedImage))
  return { ...noSpending, model, tokensIn, tokensOut: product(made, tokensOfMadeImage) }
}

/** Some providers fetch the sound from an address, or have it. */
function isSoundElsewhere(parts: readonly FormPart[]): boolean {
  return !parts.some(({ isFile }) => isFile) || parts.some(({ name }) => addresses.has(folded(name)))
}

const addresses: ReadonlySet<string> = new Set(['url', 'file_url', 'audio_url', 'file_id'].map(folded))
/** Of sound at the lowest rate that can be understood. */
const bytesOfHeardToken = 16
const bytesOfSpokenToken = 64
const maxPromptTokens = 16_000
const tokensOfEditedImage = 8000

/** Both stay safe integers, for any request. */
function product(one: number, other: number): number {
  return Math.min(one * other, maxSum)
}

function sum(one: number, other: number): number {
  return Math.min(one + other, maxSum)
}

/** Input and output together are safe, too. */
const maxSum = Math.floor(Number.MAX_SAFE_INTEGER / 4)

const quote = 0x22
const brace = 0x7b
const bracket = 0x5b
const bracketEnd = 0x5d
const comma = 0x2c
const space = 0x20
const zero = 0x30
const letterN = 0x6e
const nine = 0x39
