// The form of an error rule, with a test that shows what a client would get, before anything is saved.

import { type Html, html } from '../../base/text/html.ts'
import type { Failure } from '../page/api-client.ts'
import type { PageRequest, Handler, View } from '../page/page-request.ts'
import { redirectWith } from '../page/flash-messages.ts'
import { entries } from '../../errors/docs/entry.ts'
import { errorContentTypes } from '../../config/model/custom-errors-config.ts'
import { Draft, etagField } from '../parts/draft.ts'
import { expressionField } from '../parts/expression-field.ts'
import { areaField, selectField, textField } from '../parts/fields.ts'
import { draftForm } from '../parts/forms.ts'
import { codeBlock } from '../parts/values.ts'
import { paths } from '../page/paths.ts'
import { findZone, type Preview, previewOf, type Rule, zoneCrumbs } from './page-data.ts'
import { decided, headOf } from './codes.ts'
import { findRule, findRules, ruleOf, rulesOf } from './rule-page.ts'
import { frame, framed, isPage } from './sandbox.ts'

const usual = {
  expression: 'response.code == 502',
  content_type: 'text/html',
  try_code: '502',
  try_method: 'GET',
  try_path: '/',
} as const

/** The button that tests instead of saving, and the frame that shows a page. */
const testButton = 'test'
const frameName = 'preview'

export const showNewRule: Handler = async request => {
  const response = await findRules(request)
  const draft = new Draft({ ...usual, [etagField]: response.etag ?? '' })
  return formView(request, { draft, rule: null, tried: null })
}

export const createRule: Handler = async request => {
  const response = await findRules(request)
  const draft = Draft.of(request.form)
  if (draft.has(testButton)) return test(request, draft, null)
  // A form that is sent again was made for the rules before it.
  const outcome = await request.api.post<Rule>(rulesOf(request), bodyOf(draft), { ifMatch: draft.etag })
  if (!outcome.ok) {
    const next = outcome.status === 412 ? draft.overtaken({}, response.etag) : draft.refused(outcome)
    return formView(request, { draft: next, rule: null, tried: null })
  }
  return redirectWith(paths.errorZone(request.account.id, request.params.zone!), 'error-rule-created')
}

export const showRuleForm: Handler = async request => {
  const { rule, etag } = await findRule(request)
  const draft = new Draft({ ...usual, ...valuesOf(rule), ...(etag !== null && { etag }) })
  return formView(request, { draft, rule, tried: null })
}

export const changeRule: Handler = async request => {
  const { rule, etag } = await findRule(request)
  const draft = Draft.of(request.form)
  if (draft.has(testButton)) return test(request, draft, rule)
  const changed = await request.api.put<Rule>(ruleOf(request), bodyOf(draft), { ifMatch: draft.etag })
  if (changed.ok)
    return redirectWith(
      paths.errorRule(request.account.id, request.params.zone!, rule.id),
      'error-rule-changed',
    )
  const next = changed.status === 412 ? draft.overtaken(valuesOf(rule), etag) : draft.refused(changed)
  return formView(request, { draft: next, rule, tried: null })
}

/** Shows in a frame what a client would get. */
export const frameRule: Handler = async request => {
  await findZone(request)
  const preview = await tryOut(request, Draft.of(request.form))
  return framed(preview, request)
}

async function test(request: PageRequest, draft: Draft, rule: Rule | null): Promise<View | Failure> {
  const tried = await tryOut(request, draft)
  if (tried.ok) return formView(request, { draft, rule, tried: tried.result })
  if (tried.status !== 400) return tried
  return formView(request, { draft: draft.refused(tried, renamed), rule, tried: null })
}

const renamed = {
  '/rule/expression': 'expression',
  '/rule/content': 'content',
  '/rule/content_type': 'content_type',
  '/rule/status_code': 'status_code',
  '/rule/description': 'description',
  '/code': 'try_code',
  '/method': 'try_method',
  '/path': 'try_path',
  '/ip': 'try_ip',
  '/headers': 'try_headers',
} as const

function tryOut(request: PageRequest, draft: Draft) {
  const ip = draft.value('try_ip').trim()
  const headers = headersIn(draft.value('try_headers'))
  return previewOf(request.api, request.params.zone!, {
    rule: bodyOf(draft),
    code: Number(draft.value('try_code')),
    method: draft.value('try_method').trim(),
    path: draft.value('try_path').trim(),
    ...(ip !== '' && { ip }),
    headers,
  })
}

/** Reads lines of `Name: value`; a line without a colon is a name, which the API checks. */
function headersIn(text: string): Readonly<Record<string, readonly string[]>> {
  const pairs = text
    .split('\n')
    .filter(line => line.trim() !== '')
    .map(line => {
      const end = line.includes(':') ? line.indexOf(':') : line.length
      return [line.slice(0, end).trim(), line.slice(end + 1).trim()] as const
    })
  return Object.fromEntries(
    Array.from(
      Map.groupBy(pairs, ([name]) => name),
      ([name, some]) => [name, some.map(([, value]) => value)],
    ),
  )
}

function bodyOf(draft: Draft) {
  const status = draft.value('status_code').trim()
  const description = draft.value('description').trim()
  return {
    expression: draft.value('expression'),
    content: draft.value('content'),
    content_type: draft.value('content_type'),
    status_code: status === '' ? null : /^\d+$/.test(status) ? Number(status) : status,
    description: description === '' ? null : description,
  }
}

function valuesOf({ expression, content, content_type, status_code, description }: Rule) {
  return {
    expression,
    content,
    content_type,
    status_code: status_code === null ? '' : String(status_code),
    description: description ?? '',
  }
}

interface RuleForm {
  readonly draft: Draft
  /** Null for a new one. */
  readonly rule: Rule | null
  /** The result of a test; null for none. */
  readonly tried: Preview | null
}

const labels = {
  expression: 'Expression',
  content: 'Content',
  content_type: 'Content type',
  status_code: 'Status',
  description: 'Description',
  try_code: 'Error',
  try_method: 'Method',
  try_path: 'Path',
  try_ip: 'Address of the client',
  try_headers: 'Header fields',
} as const

function formView(request: PageRequest, { draft, rule, tried }: RuleForm): View {
  const { id } = request.account
  const zone = request.params.zone!
  return {
    title: rule === null ? 'Add an error rule' : 'Edit the error rule',
    crumbs: zoneCrumbs(request),
    hasFrames: true,
    status: draft.status,
    content: draftForm(
      {
        frame: request.frameFor(request.path),
        draft,
        labels,
        send: rule === null ? 'Add the rule' : 'Save the rule',
        cancel: rule === null ? paths.errorZone(id, zone) : paths.errorRule(id, zone, rule.id),
      },
      html`${ruleFields(draft)}${testFields(request, draft, tried)}`,
    ),
  }
}

function ruleFields(draft: Draft): Html {
  return html`${textField(draft, {
    name: 'description',
    label: labels.description,
    hint: 'What the rule is for.',
    maxLength: 500,
    isOptional: true,
  })}${expressionField(draft, {
    name: 'expression',
    label: labels.expression,
    hint: 'In CEL, over request, response.code and error: response.code == 1020 && request.path.startsWith("/api/").',
  })}${selectField(draft, {
    name: 'content_type',
    label: labels.content_type,
    options: errorContentTypes.map(value => ({ value, label: value })),
  })}${areaField(draft, {
    name: 'content',
    label: labels.content,
    hint: 'At most 10 KiB. ::CLIENT_IP::, ::RAY_ID:: and ::GEO:: are replaced by what they name.',
    rows: 8,
    isCode: true,
  })}${textField(draft, {
    name: 'status_code',
    label: labels.status_code,
    hint: '400 to 999, in place of the status of the error.',
    type: 'number',
    minimum: 400,
    maximum: 999,
    isOptional: true,
  })}`
}

function testFields(request: PageRequest, draft: Draft, tried: Preview | null): Html {
  return html`<fieldset class="more-fields" id="test"><legend>Test it with a request</legend>
<p class="hint">Nothing is sent, and nothing is saved.</p>${selectField(draft, {
    name: 'try_code',
    label: labels.try_code,
    options: entries.map(({ code, title }) => ({ value: String(code), label: `${code} ${title}` })),
  })}<div class="pair">${textField(draft, { name: 'try_method', label: labels.try_method, maxLength: 32 })}${textField(
    draft,
    { name: 'try_path', label: labels.try_path },
  )}</div>${textField(draft, {
    name: 'try_ip',
    label: labels.try_ip,
    isOptional: true,
    placeholder: '192.0.2.1',
  })}${areaField(draft, {
    name: 'try_headers',
    label: labels.try_headers,
    hint: 'One a line, such as Accept: application/json.',
    rows: 2,
    isCode: true,
    isOptional: true,
  })}<div class="actions"><button class="plain" name="${testButton}" value="on" formaction="${request.path}#test" formnovalidate>Test</button><button class="plain" formaction="${request.path}/preview" formtarget="${frameName}" formnovalidate>Show as a page</button></div>
${tried !== null && result(tried)}${frame('What a client would get', null, frameName)}</fieldset>`
}

function result(tried: Preview): Html {
  const matches = tried.source === 'draft_rule'
  return html`<div class="notice wrap ${matches ? 'good' : ''}" role="status"><p>${matches ? 'The rule matches, and decides.' : 'The rule does not match this request.'}</p>${decided(tried)}${headOf(tried)}${isPage(tried) ? html`<p class="hint">“Show as a page” shows what it looks like.</p>` : null}${codeBlock('Body', tried.body)}</div>`
}
