import type { Toolset } from './dialects.ts';
import type { FindingToolUse } from './policies.ts';

const byModel = (name: string, description: string, type = 'string') => `$fromAI('${name}', '${description}', '${type}')`;
const alone = (expression: string) => `={{ ${expression} }}`;

type Values = Record<string, unknown>;

const httpCall = (Method: string, Path: string, Body: Values = {}): FindingToolUse => ({ tool: 'HTTP', input: { Method, Path, Body } });

/** Fields with ids that people know by name, and where to look them up. */
const lists: Record<string, string> = { owner_id: 'users', assignee_id: 'users', company_id: 'companies', stage_id: 'pipelines', assignee: 'users', stage: 'pipelines' };
const isId = (value: unknown): boolean => /^[a-z]{3}_\w{20,}$/.test(String(value));

/** The values with ids instead of names, and the calls that find them. */
function withIds(values: Values): { lookUps: FindingToolUse[]; values: Values } {
	const lookUps: FindingToolUse[] = [];
	const entries = Object.entries(values).map(([name, value]) => {
		const list = lists[name];
		const field = name.endsWith('_id') || list === undefined ? name : `${name}_id`;
		if (list === undefined || isId(value)) return [field, value];
		// Stages belong to pipelines, which have other names.
		const query = list === 'pipelines' ? '' : `?name=${encodeURIComponent(String(value))}`;
		lookUps.push({ ...httpCall('GET', `/v1/${list}${query}`), finds: String(value) });
		return [field, `{${lookUps.length - 1}}`];
	});
	return { lookUps, values: Object.fromEntries(entries) as Values };
}

const collectionOf = (kind: unknown): string => `/v1/${String(kind).replace(/y$/, 'ie')}s`;

function listQuery({ query, filters = {}, sort, limit }: Values): string {
	const pairs = Object.entries(filters as Values).flatMap(([name, value]) =>
		typeof value === 'object' && value !== null ? Object.entries(value).map(([operator, bound]) => [`${name}[${operator}]`, String(bound)]) : [[name, String(value)]],
	);
	const all = [...(query === undefined ? [] : [['q', String(query)]]), ...pairs, ...(sort === undefined ? [] : [['sort', String(sort)]]), ...(limit === undefined ? [] : [['limit', String(limit)]])];
	return all.length > 0 ? `?${all.map(([name, value]) => `${encodeURIComponent(name!)}=${encodeURIComponent(value!)}`).join('&')}` : '';
}

/** Actions that the API offers as changes of values. */
const preset: Record<string, Values> = { moveToStage: {}, assign: {}, solve: { status: 'solved' }, complete: { status: 'completed' } };

/** HTTP Request at its best, with the service's address and credential; the model reads why a request was refused. */
export const httpRequest: Toolset = {
	name: 'HTTP Request',
	nodes: (url) => [
		{
			name: 'HTTP',
			type: 'n8n-nodes-base.httpRequestTool',
			typeVersion: 4.4,
			credential: { type: 'httpHeaderAuth', data: () => ({ name: 'Authorization', value: 'Bearer KEY' }) },
			parameters: {
				toolDescription: 'Makes a request to the CRM',
				method: alone(byModel('Method', 'GET, POST, PATCH, PUT or DELETE')),
				url: alone(`'${url}' + ${byModel('Path', 'Path and query, such as /v1/contacts?q=Ada')}`),
				authentication: 'genericCredentialType',
				genericAuthType: 'httpHeaderAuth',
				sendBody: true,
				specifyBody: 'json',
				jsonBody: alone(byModel('Body', 'The values to write; {} if there are none', 'json')),
				options: { response: { response: { neverError: true } } },
			},
		},
	],
	dialect({ tool }, input) {
		const { kind, action, record, values = {}, tag, match_on } = input;
		const path = collectionOf(kind);
		const recordPath = `${path}/${encodeURIComponent(String(record))}`;
		if (Object.keys(input).length === 0) return [httpCall('GET', '/v1')];
		if (tool === 'search') return [httpCall('GET', path + listQuery(input))];
		if (tool === 'count') return [httpCall('GET', path + listQuery({ limit: input['sum'] ?? input['group_by'] ? 500 : 1, ...input }))];
		if (tool === 'get') return [httpCall('GET', recordPath)];
		if (action === 'delete') return [httpCall('DELETE', recordPath)];
		if (action === 'tag') return [{ ...httpCall('GET', `/v1/tags?name=${encodeURIComponent(String(tag))}`), finds: String(tag) }, httpCall('PUT', `${recordPath}/tags/{0}`)];
		const { lookUps, values: body } = withIds(values as Values);
		if (action === 'create') return [...lookUps, httpCall('POST', path, body)];
		if (action === 'upsert') return [...lookUps, httpCall('PUT', `${path}?match_on=${encodeURIComponent(String(match_on))}`, body)];
		const presetValues = preset[String(action)];
		if (action === 'update' || presetValues) return [...lookUps, httpCall('PATCH', recordPath, { ...presetValues, ...body })];
		return [...lookUps, httpCall('POST', `${recordPath}/${String(action)}`, body)];
	},
};

const id = (name: string) => ({ __rl: true, mode: 'id', value: alone(byModel('ID', `The id of the ${name}`)) });
const field = (label: string) => alone(byModel(label.replaceAll(' ', '_'), label));
const fieldsOf = (labels: Record<string, string>) => Object.fromEntries(Object.entries(labels).map(([name, label]) => [name, field(label)]));
const listOptions = { returnAll: false, limit: 20 };
const search = { ...listOptions, additionalFields: { query: alone(byModel('Search', 'Words to search for')) } };
const company = { companyDomainName: 'Domain', industry: 'Industry', companyOwner: 'Owner' };
const deal = { amount: 'Amount', closeDate: 'Close Date', dealOwner: 'Owner', pipeline: 'Pipeline' };
const ticket = { description: 'Description', priority: 'Priority', ticketOwnerId: 'Owner' };

/** HubSpot's operations for the same record types, with the fields that our tasks fill in: name, resource, operation, parameters. */
const hubSpotOperations: Array<[name: string, resource: string, operation: string, parameters: object]> = [
	['find_contact', 'contact', 'search', search],
	['get_contact', 'contact', 'get', { contactId: id('contact') }],
	['upsert_contact', 'contact', 'upsert', { email: field('Email'), additionalFields: fieldsOf({ firstName: 'First Name', lastName: 'Last Name', jobTitle: 'Job Title', lifeCycleStage: 'Life Cycle Stage', contactOwner: 'Owner', associatedCompanyId: 'Company' }) }],
	['delete_contact', 'contact', 'delete', { contactId: id('contact') }],
	['find_company', 'company', 'searchByDomain', { domain: field('Domain'), ...listOptions }],
	['list_companies', 'company', 'getAll', listOptions],
	['create_company', 'company', 'create', { name: field('Name'), additionalFields: fieldsOf(company) }],
	['update_company', 'company', 'update', { companyId: id('company'), updateFields: fieldsOf(company) }],
	['find_deal', 'deal', 'search', search],
	['get_deal', 'deal', 'get', { dealId: id('deal') }],
	['create_deal', 'deal', 'create', { stage: field('Stage'), additionalFields: fieldsOf({ ...deal, dealName: 'Name' }) }],
	['update_deal', 'deal', 'update', { dealId: id('deal'), updateFields: fieldsOf({ ...deal, stage: 'Stage' }) }],
	['list_tickets', 'ticket', 'getAll', listOptions],
	['get_ticket', 'ticket', 'get', { ticketId: id('ticket') }],
	['create_ticket', 'ticket', 'create', { pipelineId: field('Pipeline'), stageId: field('Status'), ticketName: field('Name'), additionalFields: fieldsOf(ticket) }],
	['update_ticket', 'ticket', 'update', { ticketId: id('ticket'), updateFields: fieldsOf({ ...ticket, stageId: 'Status' }) }],
	...['task', 'call', 'meeting'].map((type): [string, string, string, object] => [`create_${type}`, 'engagement', 'create', { type, metadata: fieldsOf({ body: 'Body', ...(type === 'task' && { subject: 'Subject' }) }) }]),
];

/** HubSpot's node as a tool: its service is not available here, so only its schemas are counted. */
export const hubSpot: Toolset = {
	name: 'HubSpot, a node for each operation',
	nodes: () =>
		hubSpotOperations.map(([name, resource, operation, parameters]) => ({
			name,
			type: 'n8n-nodes-base.hubspotTool',
			typeVersion: 2.2,
			credential: { type: 'hubspotAppToken', data: () => ({ appToken: 'any' }) },
			parameters: { authentication: 'appToken', resource, operation, descriptionType: 'manual', toolDescription: `${operation} ${resource}`, ...parameters },
		})),
};
