// Schemas of error rules and error pages, in requests and in responses, and of their dry runs.

import {
  errorContentTypes,
  errorPageTypes,
  maxErrorPage,
  maxPageTokens,
  maxRuleContent,
} from '../../../config/model/custom-errors-config.ts'
import { entries } from '../../../errors/docs/entry.ts'
import { previewSources } from '../../../errors/custom/preview.ts'
import {
  about,
  closed,
  id,
  listOf,
  type Members,
  oneOf,
  open,
  orNull,
  type Schema,
  text,
  time,
  whole,
} from '../../schema/schema.ts'
import { expression, placed, ruleDescription, sameId } from '../rules/rule-schemas.ts'

const content: Schema = {
  ...text,
  description: `At most ${maxRuleContent} bytes in UTF-8. \`::CLIENT_IP::\`, \`::RAY_ID::\` and \`::GEO::\` are replaced by what they name.`,
  minLength: 1,
  maxLength: maxRuleContent,
}

const required: Members = {
  expression: expression('`request`, `response.code` and `error`'),
  content,
  content_type: oneOf(errorContentTypes),
}

const optional: Members = {
  status_code: about('Instead of the status of the error.', orNull(whole(400, 999))),
  ...ruleDescription,
}

export const newErrorRule = closed(required, { ...optional, ...placed })

export const changedErrorRule = closed(required, { ...optional, ...sameId })

export const errorRule = open({ id, ...required, ...optional })

const type = oneOf(errorPageTypes)

export const html: Schema = {
  ...text,
  description: `At most ${maxErrorPage} bytes in UTF-8. In addition to the tokens of rules, \`::SVC_ERROR_500S_BOX::\` and \`::SVC_ERROR_1000S_BOX::\` are replaced by a box that describes the error; at most ${maxPageTokens} tokens in all.`,
  minLength: 1,
  maxLength: maxErrorPage,
}

export const errorPage = open({ type, size: about('Bytes.', whole(1)), modified_at: time })

export const errorPageWithHtml = open({ type, size: about('Bytes.', whole(1)), modified_at: time, html })

export const goneErrorPage = open({ type })

const fieldValue: Schema = { ...text, maxLength: 8192 }

export const previewRequest = closed(
  { code: oneOf(entries.map(({ code }) => code)) },
  {
    accept: about('Overrides any in `headers`.', fieldValue),
    host: about('The first host of the zone by default.', text),
    method: about('`GET` by default.', text),
    path: about('With the query; `/` by default.', { ...text, pattern: '^/[!-~]*$' }),
    headers: {
      type: 'object',
      additionalProperties: { anyOf: [fieldValue, listOf(fieldValue, 1, 100)] },
      maxProperties: 100,
    },
    ip: about('The address of the client.', text),
    country: about('Its country (ISO 3166-1).', { ...text, pattern: '^[A-Za-z]{2}$' }),
    asn: about('Its autonomous system number.', whole(0, 2 ** 32 - 1)),
    rule: about('Tried before all rules that are set.', closed(required, optional)),
    page: about('Instead of the page that is set for the zone.', closed({ type, html })),
  },
)

export const preview = open(
  {
    status: whole(400, 999),
    headers: { type: 'object', additionalProperties: text },
    body: text,
    source: about('What decided the content.', oneOf(previewSources)),
  },
  { rule_id: about('The rule, if it was set by the API.', id) },
)
