import { withoutParameterNames } from '../api/http/path';
import { findDuplicates } from '../duplicates/findDuplicates';
import { mergeDuplicates } from '../duplicates/mergeDuplicates';
import type { PickedField } from '../mapping/readItems';
import { operationOf, type MenuEntry, type Operation, type Resource } from '../model';
import { count } from '../operations/count';
import { exportFile } from '../operations/exportFile';
import { get, getFixed } from '../operations/get';
import { getMany } from '../operations/getMany';
import { getTimeline } from '../operations/getTimeline';
import { importFile } from '../operations/importFile';
import { importRelatedFiles } from '../operations/importRelatedFiles';
import { sendAndWait } from '../approval/sendAndWait';
import { sendRequest } from '../operations/sendRequest';
import { undo } from '../operations/undo';
import { upsert } from '../operations/upsert';
import { create, deleteRecord, namedCreate, namedUpdate, recordAction, tagOperations, update } from '../operations/recordWrites';
import { valuesInOption } from '../parameters/fieldParameters';
import { pickerProperty } from '../parameters/recordParameters';
import { erasePerson } from '../person/erasePerson';
import { exportPerson } from '../person/exportPerson';

const recordOperations = [create, upsert, deleteRecord, exportFile, get, getMany(), importFile, update];

type NamedType = Pick<Resource, 'name' | 'value' | 'path' | 'parents'>;

/** A record type of everyday work: its records link to others. */
const linkedType = (named: NamedType, operations: Operation[]): Resource => ({ ...named, isEveryday: true, isPolled: true, operations });

/** @param more the operations that only it has */
const everydayType = (named: NamedType, more: Operation[] = []): Resource =>
	linkedType(named, [count, ...recordOperations, ...tagOperations, ...more]);

const company = everydayType({ name: 'Company', value: 'company', path: '/companies' }, [getTimeline]);

const reopening = 'Reopen a closed deal or ticket, or a completed task';

const deal = everydayType({ name: 'Deal', value: 'deal', path: '/deals' }, [
	getTimeline,
	recordAction('lose', { name: 'Lose', description: 'Close a deal as lost, with the reason', sets: { status: 'lost' }, takesValues: true }),
	namedUpdate({
		name: 'Move to Stage',
		value: 'moveToStage',
		action: 'Move % to stage',
		description: 'Move a deal to another stage, in its own or another pipeline',
		picked: [
			{ field: 'pipeline_id', name: 'pipelineId', displayName: 'Pipeline', method: 'searchPipelines', isOptional: true, description: 'Narrows the list of stages' },
			{ field: 'stage_id', name: 'stageId', displayName: 'Stage', method: 'searchStages' },
		],
	}),
	recordAction('reopen', { name: 'Reopen', description: reopening, sets: { status: 'open' } }),
	recordAction('win', { name: 'Win', description: 'Close a deal as won', sets: { status: 'won' } }),
]);

const task = everydayType({ name: 'Task', value: 'task', path: '/tasks' }, [
	namedUpdate({ name: 'Complete', description: 'Mark a task as completed', preset: { status: 'completed' } }),
	namedUpdate({ name: 'Reopen', description: reopening, preset: { status: 'not_started' } }),
	sendAndWait,
]);

const assignee: PickedField = { field: 'assignee_id', name: 'assigneeId', displayName: 'Assignee', method: 'searchUsers' };

const ticket = everydayType({ name: 'Ticket', value: 'ticket', path: '/tickets' }, [
	getTimeline,
	namedUpdate({ name: 'Assign', description: 'Assign a ticket to a user', picked: [assignee] }),
	namedUpdate({ name: 'Change Status', action: 'Change % status', description: 'Move a ticket to another status', only: ['status'], required: ['status'] }),
	namedUpdate({ name: 'Close', description: 'Close a ticket permanently', preset: { status: 'closed' } }),
	namedUpdate({ name: 'Reopen', description: reopening, preset: { status: 'open' } }),
	namedUpdate({
		name: 'Solve',
		description: 'Mark a ticket as solved. The ticket must have an assignee.',
		preset: { status: 'solved' },
		picked: [{ ...assignee, isOptional: true }],
	}),
]);

const message = linkedType({ name: 'Message', value: 'message', path: '/messages' }, [
	count,
	// No message is just created: it is sent, or was received.
	...recordOperations.filter((operation) => operation !== create),
	recordAction('cancel', { name: 'Cancel', description: 'Cancel a scheduled message before it is sent' }),
	namedCreate({
		name: 'Log Incoming',
		action: 'Log incoming %',
		description: 'Log a message that was received elsewhere',
		preset: { direction: 'inbound' },
		without: ['scheduled_at'],
	}),
	recordAction('schedule', { name: 'Reschedule', description: 'Change when a scheduled message is sent', leavesTheCrm: true, takesValues: true }),
	namedCreate({
		name: 'Schedule',
		description: 'Create a message to be sent later',
		leavesTheCrm: true,
		preset: { direction: 'outbound' },
		required: ['scheduled_at'],
	}),
	namedCreate({
		name: 'Send',
		description: 'Create a message and send it immediately',
		leavesTheCrm: true,
		preset: { direction: 'outbound' },
		without: ['scheduled_at'],
	}),
	recordAction('send', {
		name: 'Send Scheduled Now',
		value: 'sendNow',
		action: 'Send scheduled % now',
		description: 'Send a scheduled message immediately',
		leavesTheCrm: true,
	}),
]);

/** In the order of their display names. */
const everydayRecords: Resource[] = [
	company,
	everydayType({ name: 'Contact', value: 'contact', path: '/contacts' }, [getTimeline]),
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

/** The resources for everyday work, by name. */
export const everyday: Resource[] = [
	administrationType({ name: 'Change', value: 'change', path: '/events' }, [undo(everydayRecords)]),
	...everydayRecords,
];

export const duplicateTypes: Resource[] = everydayRecords
	.filter(({ value }) => ['company', 'contact', 'customObjectRecord'].includes(value))
	.map((type) => ({ ...type, operations: [findDuplicates, mergeDuplicates(everydayRecords)] }));

/** A part of the service whose changes cannot be undone. */
function administrationType(named: NamedType, operations: Operation[], isPolled = false): Resource {
	return { ...named, isPolled, operations };
}

const webhookOperations = [
	create,
	deleteRecord,
	get,
	getMany(),
	recordAction('recover', {
		name: 'Recover Events',
		value: 'recover',
		action: 'Recover events of %',
		description: 'Redeliver the events that could not be delivered',
		output: null,
		takesValues: true,
	}),
	recordAction('rotate-secret', { name: 'Rotate Secret', action: 'Rotate secret of %', description: 'Replace the secret that deliveries are signed with' }),
	recordAction('test', { name: 'Send Test Event', value: 'test', action: 'Send test event to %', description: 'Send a test event to the webhook', output: null }),
	update,
];

const currentUser = getFixed('/users/me', {
	name: 'Get Current',
	value: 'getCurrent',
	action: 'Get current user',
	description: 'Retrieve the user the credential belongs to',
});
const plan = getFixed('/account', { name: 'Get', value: 'get', action: 'Get plan and its limits', description: 'Retrieve a single record' });
const jobCancel = recordAction('cancel', { name: 'Cancel', description: 'Cancel a job. Records already processed stay as they are.' });
const deliveryRetry = recordAction('retry', { name: 'Retry', description: 'Send the event again' });

/** The resources for setting up and monitoring an account, in the order of their display names. */
export const administration: Resource[] = [
	administrationType({ name: 'API Request', value: 'apiRequest', path: '/' }, [sendRequest]),
	administrationType({ name: 'Custom Field', value: 'customField', path: '/custom-fields' }, recordOperations, true),
	administrationType({ name: 'Custom Object', value: 'customObject', path: '/custom-objects' }, recordOperations, true),
	administrationType({ name: 'Event', value: 'event', path: '/events' }, [get, getMany({ listsChanges: false })]),
	administrationType({ name: 'Job', value: 'job', path: '/jobs' }, [jobCancel, get, getMany()]),
	administrationType({ name: 'Person', value: 'person', path: '/contacts' }, [erasePerson(everydayRecords), exportPerson(everydayRecords)]),
	administrationType({ name: 'Pipeline', value: 'pipeline', path: '/pipelines' }, recordOperations, true),
	administrationType({ name: 'Plan', value: 'account', path: '/account' }, [plan]),
	administrationType({ name: 'Tag', value: 'tag', path: '/tags' }, recordOperations, true),
	administrationType({ name: 'User', value: 'user', path: '/users' }, [...recordOperations, currentUser], true),
	administrationType({ name: 'Webhook', value: 'webhook', path: '/webhooks' }, webhookOperations),
	administrationType(
		{
			name: 'Webhook Delivery',
			value: 'webhookDelivery',
			path: '/webhooks/{webhookId}/deliveries',
			parents: [pickerProperty('Webhook', 'webhookId', 'searchWebhooks')],
		},
		[get, getMany({ listsChanges: false, sorts: false }), deliveryRetry],
	),
];

export const resources: Resource[] = [...everyday, ...administration].sort((a, b) => (a.name < b.name ? -1 : 1));

const gatheredOperations = ['addTag', 'exportFile', 'importFile', 'removeTag'];

/** The record types that have some operations, as one entry of a menu. */
const gathered = (name: string, value: string, operationValues: string[]): MenuEntry => ({
	name,
	value,
	recordTypes: resources.filter((resource) => operationOf(resource, operationValues[0])),
	isEveryday: true,
	// A company has all of them, and each is the same for every record type.
	operations: company.operations.filter(({ option }) => operationValues.includes(String(option.value))),
});

const fileMenu = gathered('File', 'file', ['exportFile', 'importFile']);

/** Files of the record types that other systems have, too. */
const relatedTypes = resources.filter((type) => everydayRecords.includes(type) || ['tag', 'user'].includes(type.value));
const relatedFiles = administrationType({ name: 'File', value: 'file', path: '/jobs' }, [importRelatedFiles(relatedTypes)]);

const single = (resource: Resource): MenuEntry => ({
	...resource,
	operations: resource.operations.filter(({ option }) => !gatheredOperations.includes(String(option.value))),
});

export const everydayMenu: MenuEntry[] = [
	...everyday.map(single),
	{ ...fileMenu, operations: [...fileMenu.operations, ...relatedFiles.operations] },
	gathered('Tag', 'recordTag', ['addTag', 'removeTag']),
].sort((a, b) => (a.name < b.name ? -1 : 1));

/** The menu of CRM Platform Admin, whose values seldom come from other systems; files can have them in other notations. */
export const adminMenu: MenuEntry[] = administration.map(single).map((entry) => ({
	...entry,
	operations: entry.operations.map(({ options = [], ...operation }) => ({
		...operation,
		options: options.filter((option) => option !== valuesInOption),
	})),
}));

export function chosenResource(read: (parameter: string) => unknown): Resource | undefined {
	const value = String(read('resource'));
	if (value === relatedFiles.value && operationOf(relatedFiles, read('operation'))) return relatedFiles;
	const isGathered = everydayMenu.some((menu) => menu.recordTypes && menu.value === value);
	return resourceNamed(isGathered ? String(read('kind')) : value);
}

/** The record type with that path, however its parameters are named. Change and Person share paths with others, but read no single record. */
export const resourceAt = (path: string): Resource | undefined =>
	resources.find((resource) => withoutParameterNames(resource.path) === withoutParameterNames(path) && operationOf(resource, 'get'));

export function resourceNamed(value: string): Resource | undefined {
	return resources.find((resource) => resource.value === value);
}
