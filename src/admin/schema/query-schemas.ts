// The query parameters that lists share.

import { cursorOf, maxPerPage } from '../http/query.ts'
import { about, type Members, type Schema, text, time, whole } from './schema.ts'

export const pageQuery: Members = {
  page: about('From 1 on.', whole(1, 1_000_000)),
  per_page: about('20 by default.', whole(1, maxPerPage)),
  cursor: about(
    '`result_info.cursor` of the previous page, instead of `page`. Removals between two pages then skip nothing.',
    { ...text, minLength: 1, examples: [cursorOf({ at: 1_767_225_600_000, id: 'default' })] },
  ),
}

/** A day, or a moment in it. */
export const moment: Schema = { anyOf: [{ type: 'string', format: 'date' }, time] }
