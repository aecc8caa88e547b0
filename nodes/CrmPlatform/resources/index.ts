import { withoutParameterNames } from '../api/http/path';
import { findDuplicates } from '../duplicates/findDuplicates';
import { mergeDuplicates } from '../duplicates/mergeDuplicates';
import type { PickedField } from '../mapping/pickedFields';
import type { MenuEntry, Operation, Resource } from '../model';
import { get, getFixed } from '../operations/get';
import { getMany } from '../operations/getMany';
import { importRelatedFiles } from '../operations/importRelatedFiles';
import { everydayType, recordOperations } from '../operations/recordOperations';
import { sendAndWait } from '../operations/sendAndWait';
import { sendRequest } from '../operations/sendRequest';
import { undo } from '../operations/undo';
import { create, deleteRecord, namedUpdate, recordAction, update } from '../operations/writeRecord';
import { valuesInOption } from '../parameters/fieldParameters';
import { pickerProperty } from '../parameters/recordParameters';
import { erasePerson } from '../person/erasePerson';
import { exportPerson } from '../person/exportPerson';
import { message } from './message';

const company = everydayType({ name: 'Company', value: 'company', path: '/companies' });

const deal = everydayType({ name: 'Deal', value: 'deal', path: '/deals' }, [
	recordAction('Lose deal', 'lose', {
		name: 'Lose',
		value: 'lose',
		description: 'Close a deal as lost, with the reason',
		leavesTheCrm: false,
		sets: { status: 'lost' },
		takesValues: true,
	}),
	namedUpdate('Move deal to stage', {
		name: 'Move to Stage',
		value: 'moveToStage',
		description: 'Move a deal to another stage, in its own or another pipeline',
		leavesTheCrm: false,
		only: [],
		picked: [
			{
				field: 'pipeline_id',
				name: 'pipelineId',
				displayName: 'Pipeline',
				method: 'searchPipelines',
				isOptional: true,
				description: 'Narrows the list of stages',
			},
			{
				field: 'stage_id',
				name: 'stageId',
				displayName: 'Stage',
				method: 'searchStages',
			},
		],
	}),
	recordAction('Reopen deal', 'reopen', {
		name: 'Reopen',
		value: 'reopen',
		description: 'Reopen a closed deal or ticket, or a completed task',
		leavesTheCrm: false,
		sets: { status: 'open' },
	}),
	recordAction('Win deal', 'win', {
		name: 'Win',
		value: 'win',
		description: 'Close a deal as won',
		leavesTheCrm: false,
		sets: { status: 'won' },
	}),
]);

const task = everydayType({ name: 'Task', value: 'task', path: '/tasks' }, [
	namedUpdate('Complete task', {
		name: 'Complete',
		value: 'complete',
		description: 'Mark a task as completed',
		leavesTheCrm: false,
		preset: { status: 'completed' },
		only: [],
	}),
	namedUpdate('Reopen task', {
		name: 'Reopen',
		value: 'reopen',
		description: 'Reopen a closed deal or ticket, or a completed task',
		leavesTheCrm: false,
		preset: { status: 'not_started' },
		only: [],
	}),
	sendAndWait(),
]);

const assignee: PickedField = {
	field: 'assignee_id',
	name: 'assigneeId',
	displayName: 'Assignee',
	method: 'searchUsers',
};

const ticket = everydayType({ name: 'Ticket', value: 'ticket', path: '/tickets' }, [
	namedUpdate('Assign ticket', {
		name: 'Assign',
		value: 'assign',
		description: 'Assign a ticket to a user',
		leavesTheCrm: false,
		only: [],
		picked: [assignee],
	}),
	namedUpdate('Change ticket status', {
		name: 'Change Status',
		value: 'changeStatus',
		description: 'Move a ticket to another status',
		leavesTheCrm: false,
		only: ['status'],
		required: ['status'],
	}),
	namedUpdate('Close ticket', {
		name: 'Close',
		value: 'close',
		description: 'Close a ticket permanently',
		leavesTheCrm: false,
		preset: { status: 'closed' },
		only: [],
	}),
	namedUpdate('Reopen ticket', {
		name: 'Reopen',
		value: 'reopen',
		description: 'Reopen a closed deal or ticket, or a completed task',
		leavesTheCrm: false,
		preset: { status: 'open' },
		only: [],
	}),
	namedUpdate('Solve ticket', {
		name: 'Solve',
		value: 'solve',
		description: 'Mark a ticket as solved. The ticket must have an assignee.',
		leavesTheCrm: false,
		preset: { status: 'solved' },
		only: [],
		picked: [{ ...assignee, isOptional: true }],
	}),
]);

/** In the order of their display names. */
const everydayRecords: Resource[] = [
	company,
	everydayType({ name: 'Contact', value: 'contact', path: '/contacts' }),
	everydayType({
		name: 'Custom Object Record',
		value: 'customObjectRecord',
		path: '/custom-objects/{objectKey}/records',
		parents: [
			{
				...pickerProperty('Custom Object', 'objectKey', 'searchCustomObjects', {
					by: { name: 'key', displayName: 'By Key', hint: 'The key of the custom object, such as cars' },
				}),
				builderHint: { propertyHint: 'Also for kind customObjectRecord' },
			},
		],
	}),
	deal,
	everydayType({ name: 'Logged Activity', value: 'activity', path: '/activities' }),
	message,
	everydayType({ name: 'Note', value: 'note', path: '/notes' }),
	task,
	ticket,
];

const undoable = everydayRecords.filter(({ isUndoable }) => isUndoable);

/** The resources for everyday work, by name. */
export const everyday: Resource[] = [service({ name: 'Change', value: 'change', path: '/events' }, [undo(undoable)]), ...everydayRecords];

/** The record types of CRM Platform Duplicates. */
export const duplicateTypes: Resource[] = everydayRecords.filter(({ value }) => ['company', 'contact', 'customObjectRecord'].includes(value))
	.map((type) => ({ ...type, operations: [findDuplicates, mergeDuplicates(everydayRecords)] }));

/** A part of the service whose changes cannot be undone. */
function service(named: Pick<Resource, 'name' | 'value' | 'path' | 'parents'>, operations: Operation[], isPolled = false): Resource {
	return { ...named, isUndoable: false, isPolled, operations };
}

const jobOperations = [
	recordAction('Cancel job', 'cancel', {
		name: 'Cancel',
		value: 'cancel',
		description: 'Cancel a job. Records already processed stay as they are.',
		leavesTheCrm: false,
	}),
	get('Get job'),
	getMany('Get many jobs'),
];

const planOperation = getFixed('Get plan and its limits', '/account', {
	name: 'Get',
	value: 'get',
	description: 'Retrieve a single record',
});

const userOperations = [
	...recordOperations('user'),
	getFixed('Get current user', '/users/me', {
		name: 'Get Current',
		value: 'getCurrent',
		description: 'Retrieve the user the credential belongs to',
	}),
];

const deliveryOperations = [
	get('Get webhook delivery'),
	getMany('Get many webhook deliveries', { listsChanges: false, sorts: false }),
	recordAction('Retry webhook delivery', 'retry', {
		name: 'Retry',
		value: 'retry',
		description: 'Send the event again',
		leavesTheCrm: false,
	}),
];

const webhookOperations = [
	create('Create webhook'),
	deleteRecord('Delete webhook'),
	get('Get webhook'),
	getMany('Get many webhooks'),
	recordAction('Recover events of webhook', 'recover', {
		name: 'Recover Events',
		value: 'recover',
		description: 'Redeliver the events that could not be delivered',
		leavesTheCrm: false,
		output: null,
		takesValues: true,
	}),
	recordAction('Rotate secret of webhook', 'rotate-secret', {
		name: 'Rotate Secret',
		value: 'rotateSecret',
		description: 'Replace the secret that deliveries are signed with',
		leavesTheCrm: false,
	}),
	recordAction('Send test event to webhook', 'test', {
		name: 'Send Test Event',
		value: 'test',
		description: 'Send a test event to the webhook',
		leavesTheCrm: false,
		output: null,
	}),
	update('Update webhook'),
];

const customFields = recordOperations('custom field');
const customObjects = recordOperations('custom object');
const eventOperations = [get('Get event'), getMany('Get many events', { listsChanges: false })];

/** The resources for setting up and monitoring an account, in the order of their display names. */
export const administration: Resource[] = [
	service({ name: 'API Request', value: 'apiRequest', path: '/' }, [sendRequest()]),
	service({ name: 'Custom Field', value: 'customField', path: '/custom-fields' }, customFields, true),
	service({ name: 'Custom Object', value: 'customObject', path: '/custom-objects' }, customObjects, true),
	service({ name: 'Event', value: 'event', path: '/events' }, eventOperations),
	service({ name: 'Job', value: 'job', path: '/jobs' }, jobOperations),
	service({ name: 'Person', value: 'person', path: '/contacts' }, [erasePerson(everydayRecords), exportPerson(everydayRecords)]),
	service({ name: 'Pipeline', value: 'pipeline', path: '/pipelines' }, recordOperations('pipeline'), true),
	service({ name: 'Plan', value: 'account', path: '/account' }, [planOperation]),
	service({ name: 'Tag', value: 'tag', path: '/tags' }, recordOperations('tag'), true),
	service({ name: 'User', value: 'user', path: '/users' }, userOperations, true),
	service({ name: 'Webhook', value: 'webhook', path: '/webhooks' }, webhookOperations),
	service(
		{
			name: 'Webhook Delivery',
			value: 'webhookDelivery',
			path: '/webhooks/{webhookId}/deliveries',
			parents: [pickerProperty('Webhook', 'webhookId', 'searchWebhooks')],
		},
		deliveryOperations,
	),
];

export const resources: Resource[] = [...everyday, ...administration].sort((a, b) => (a.name < b.name ? -1 : 1));

const gatheredOperations = ['addTag', 'exportFile', 'importFile', 'removeTag'];

/** The record types that have some operations, as one entry of a menu. */
const gathered = (name: string, value: string, operationValues: string[]): MenuEntry => ({
	name,
	value,
	recordTypes: resources.filter(({ operations }) => operations.some(({ option }) => option.value === operationValues[0])),
	hasLinks: true,
	// A company has all of them, and each is the same for every record type.
	operations: company.operations.filter(({ option }) => operationValues.includes(String(option.value))),
});

const fileMenu = gathered('File', 'file', ['exportFile', 'importFile']);

/** Files of the record types that other systems have, too. */
const relatedFiles = service({ name: 'File', value: 'file', path: '/jobs' }, [
	importRelatedFiles(resources.filter(({ value }) => everydayRecords.some((type) => type.value === value) || value === 'tag' || value === 'user')),
]);

const single = (resource: Resource): MenuEntry => ({
	...resource,
	operations: resource.operations.filter(({ option }) => !gatheredOperations.includes(String(option.value))),
});

/** The menu of CRM Platform. */
export const everydayMenu: MenuEntry[] = [
	...everyday.map(single),
	{ ...fileMenu, operations: [...fileMenu.operations, ...relatedFiles.operations] },
	gathered('Tag', 'recordTag', ['addTag', 'removeTag']),
].sort((a, b) => (a.name < b.name ? -1 : 1));

/** The menu of CRM Platform Admin, whose values seldom come from other systems; files can have them in other notations. */
export const adminMenu: MenuEntry[] = administration.map(single).map((entry) => ({
	...entry,
	operations: entry.operations.map((operation) => ({ ...operation, options: (operation.options ?? []).filter((option) => option !== valuesInOption) })),
}));

/**
 * The resource that the user has chosen.
 *
 * @param read returns the value of a parameter
 */
export function chosenResource(read: (parameter: string) => unknown): Resource | undefined {
	const value = String(read('resource'));
	if (value === relatedFiles.value && relatedFiles.operations.some(({ option }) => option.value === read('operation'))) return relatedFiles;
	const isGathered = everydayMenu.some((menu) => menu.recordTypes && menu.value === value);
	return resourceNamed(isGathered ? String(read('kind')) : value);
}

/** The resource with that path, if any; parameters may have any name. */
export const resourceAt = (path: string): Resource | undefined =>
	resources.find((resource) => withoutParameterNames(resource.path) === withoutParameterNames(path));

/** The resource with that value, if any. */
export function resourceNamed(value: string): Resource | undefined {
	return resources.find((resource) => resource.value === value);
}
