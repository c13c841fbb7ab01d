// Bounds of the tokens of images, files and sound in a request, which do not depend on its length.

import type { RequestScan } from './request-scan.ts'

export interface Media {
  readonly tokens: number
  /** Of these; all or none, since one part may not say what it is. */
  readonly audio: number
  /** In the request, which are no text. */
  readonly bytes: number
}

/** Each is counted as the worst kind that the request has. */
export function mediaIn({ json, references, inline, inlineBytes }: RequestScan, model: string): Media {
  if (references + inline === 0) return none
  const image = imageTokens(model)
  const text = json.toString('latin1')
  const hasEscapes = text.includes('\\u00')
  const hasFiles = hasEscapes || fileMarks.test(text)
  const hasSound = hasEscapes || soundMarks.test(text)
  const ofReferences = references * (hasFiles || hasSound ? tokensOfReference : image)
  const bytesOfToken = hasFiles ? bytesOfFileToken : bytesOfSoundToken
  const ofInline = inline * image + (hasFiles || hasSound ? Math.ceil(inlineBytes / bytesOfToken) : 0)
  const tokens = ofReferences + ofInline
  return { tokens, audio: hasSound ? tokens : 0, bytes: inlineBytes }
}

const none: Media = { tokens: 0, audio: 0, bytes: 0 }

/** Members, types of parts and media types; in a text, the quotes would be escaped. */
const fileMarks =
  /"(?:documents?|input_file|fileData|file_data|fileUri|file_uri|file_url|document_url)"|"file"\s*:|"(?:data:)?(?:application|text)\\?\//i
const soundMarks = /"(?:input_audio|audio|video|audio_url|video_url)"|"(?:data:)?(?:audio|video)\\?\/|youtu/i

/** A file of any length: as many as the largest context in common use. */
export const tokensOfReference = 1_000_000
const bytesOfFileToken = 2
/** Of base64; at the lowest rate that can be understood. */
const bytesOfSoundToken = 16

/** At the best quality and the largest size. */
function imageTokens(model: string): number {
  return model.includes('gpt-4o-mini') ? 48_200 : 5000
}
