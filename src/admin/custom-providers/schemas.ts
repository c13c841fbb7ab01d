// Schemas of custom providers, in requests and in responses.

import {
  about,
  closed,
  flag,
  type Members,
  open,
  printable,
  type Schema,
  text,
  time,
  whole,
} from '../schema/schema.ts'
import { maxHeaders, maxNote, slugPattern } from './body.ts'

const slug: Schema = about('Calls name the provider as `custom-SLUG`.', { ...text, pattern: slugPattern })
const url: Schema = about(
  'An https URL, such as https://llm.example/v1. Calls go there, and their paths are added to it.',
  { ...text, pattern: '^[hH][tT][tT][pP][sS]://[^/?#]+(?:/[!-~]*)?$' },
)
const name = printable(100)
const note: Schema = { ...text, maxLength: maxNote }
const more: Members = {
  enable: about('Whether calls may use it; true by default.', flag),
  headers: about(
    `JSON of up to ${maxHeaders} header fields and their values, which calls have unless their callers send the same. Everybody who may see gateways sees them: they cannot be credentials.`,
    { ...text, maxLength: 4_096 },
  ),
  beta: about('Only shown again, as are the members below.', flag),
  curl_example: note,
  description: note,
  js_example: note,
  link: note,
  position: whole(0, 1_000_000),
}

export const newCustomProvider = closed({ name, slug, base_url: url }, more)
export const changedCustomProvider = closed({}, { name, ...more })

export const customProvider = open(
  { id: about('The slug.', text), name, slug, base_url: url, created_at: time, modified_at: time },
  more,
)
