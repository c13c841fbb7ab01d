// The query parameters that lists share. operations-*.ts use them.

import { mostPerPage } from './query.ts'
import { about, type Members, type Schema, time, whole } from './schemas.ts'

/** Which part of a list is shown. */
export const pageQuery: Members = {
  page: about('From 1 on.', whole(1, 1_000_000)),
  per_page: about('20 unless given.', whole(1, mostPerPage)),
}

/** A day, or a moment in it. */
export const moment: Schema = { anyOf: [{ type: 'string', format: 'date' }, time] }
