// The operations of the audit log, for the document of the API.

import { json, tagged } from '../schema/operation.ts'
import { moment, pageQuery } from '../schema/query-schemas.ts'
import { about, type Members, named, oneOf, open, piece, type Schema, text, whole } from '../schema/schema.ts'
import { auditActions, auditKinds } from './schemas.ts'

const logs = '/client/v4/accounts/{account_id}/audit_logs'

const filter: Schema = { ...text, minLength: 1, maxLength: 500 }

const auditQuery: Members = {
  since: about('From this date or time.', moment),
  before: about('Before this date or time.', moment),
  direction: about('By time; `desc` by default.', oneOf(['desc', 'asc'])),
  'actor.id': about('The token, the user, or the consent by which an app acted.', filter),
  'actor.email': about('The user for whom an app acted.', filter),
  'action.type': oneOf(auditActions),
  'resource.type': oneOf(auditKinds),
  'resource.id': filter,
}

export const auditOperations = tagged('Audit logs', {
  [`GET ${logs}`]: {
    id: 'listAuditLogs',
    summary: 'List who changed what',
    description:
      'With a filter, a response looks at up to 10,000 entries: `result_info` then has `scanned` in place of totals, and a `cursor` if there are more. With `page` it looks at all.',
    query: { ...pageQuery, ...auditQuery },
    response: json(
      piece(
        named('AuditEntry'),
        open(
          { per_page: whole(1), count: whole(0) },
          {
            page: whole(1),
            total_count: whole(0),
            scanned: about('With a filter: how many entries were looked at.', whole(0)),
            cursor: about('Leads to what follows; absent at the end of the list.', text),
          },
        ),
      ),
    ),
  },
  [`GET ${logs}/export`]: {
    id: 'exportAuditLogs',
    summary: 'Export who changed what',
    description:
      'The first 100,000 that match, in the order asked for: `since` or `before` leads to the rest. In CSV, an apostrophe stands before what a spreadsheet would take for a formula. A response that is cut off is not whole.',
    query: { ...auditQuery, format: about('`csv` by default.', oneOf(['csv', 'ndjson'])) },
    response: {
      content: {
        'text/csv; charset=utf-8; header=present': text,
        'application/x-ndjson': about('An entry per line, as JSON.', text),
      },
    },
  },
})
