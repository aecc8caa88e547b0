import type { IDataObject, INodeTypeDescription } from 'n8n-workflow';

import { getOrCreate } from './base/maps';
import { fieldsJsonHint, describeFields } from './parameters/fieldParameters';
import { operationOf, type MenuEntry } from './model';
import { administration, adminMenu, everyday, everydayMenu } from './resources';

/** The parameters of a usual task, as a builder of workflows writes them. A test runs each example. */
export const builderExamples: Array<{ task: string; parameters: IDataObject }> = [
	{
		task: 'create or update contacts from items of other names',
		parameters: {
			resource: 'contact',
			operation: 'upsert',
			fieldsMatchOn: 'email',
			fieldsMode: 'json',
			fieldsJson: '={{ { email: $json.mail, last_name: $json.name } }}',
		},
	},
	{
		task: 'find the open deals of at least 1,000',
		parameters: {
			resource: 'deal',
			operation: 'getMany',
			returnAll: true,
			filters: {
				rows: [
					{ field: 'status', operator: 'isOneOfChoices', choices: ['open'] },
					{ field: 'amount', operator: 'isAtLeast', value: '1000' },
				],
			},
		},
	},
];

/** Formats parameters as builders write them: expressions with `expr()`. */
export const asCode = (parameters: IDataObject): string =>
	JSON.stringify(parameters).replace(/"=((?:[^"\\]|\\.)*)"/g, 'expr("$1")');

const forAny =
	'Every record may have external_id, its ID in another system; the filter q searches its text. Filter tasks, notes and activities by "linked_to: contacts" (companies, deals, tickets).';

/** Operations whose names do not say enough. */
const described = ['undo', 'exportFile', 'importFile', 'moveIn', 'sendAndWait'];

/** The operations, by the resources that have them. */
function describeOperations(menu: MenuEntry[]): string {
	const groups = new Map<string, string[]>();
	const options = new Map(menu.flatMap(({ operations }) => operations.map(({ option }) => [option.value, option])));
	for (const option of options.values()) {
		const resources = menu.filter((entry) => operationOf(entry, option.value)).map(({ value }) => value);
		const name = String(option.value);
		const text = described.includes(name) ? `${name}: ${option.description}` : name;
		getOrCreate(groups, resources.join(', '), () => []).push(text);
	}
	const lines = [...groups].map(([resources, operations]) => `${resources} (${operations.join(', ')})`);
	return `Resources, and the operations they have: ${lines.join('; ')}`;
}

export const everydayHint: NonNullable<INodeTypeDescription['builderHint']> = {
	searchHint:
		'Give it all items at once: it writes them in batches, so it needs no loop. To start a workflow use crmPlatformTrigger, to keep two systems in sync crmPlatformSync, for files of any size resource file.',
	relatedNodes: [
		{ nodeType: 'n8n-nodes-crm-platform.crmPlatformTrigger', relationHint: 'Starts a workflow on events, with a public URL' },
		{ nodeType: 'n8n-nodes-crm-platform.crmPlatformPollTrigger', relationHint: 'Starts a workflow on events, without one' },
		{ nodeType: 'n8n-nodes-crm-platform.crmPlatformSync', relationHint: 'Keeps records in sync with a table' },
		{ nodeType: 'n8n-nodes-crm-platform.crmPlatformAdmin', relationHint: 'Pipelines, users, webhooks, custom fields, any API request' },
	],
	extraTypeDefContent: [{
		content: [
			...builderExamples.map(({ task, parameters }) => `To ${task}: ${asCode(parameters)}`),
			describeOperations(everydayMenu),
			`${fieldsJsonHint} ${forAny} ${describeFields(everyday)}`,
		].join('\n'),
	}],
};

const createdTypes = administration.filter((resource) => operationOf(resource, 'create'));

export const adminHint: NonNullable<INodeTypeDescription['builderHint']> = {
	extraTypeDefContent: [{ content: `${describeOperations(adminMenu)}\n${fieldsJsonHint} ${describeFields(createdTypes)}` }],
};
