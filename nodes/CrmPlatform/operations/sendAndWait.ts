import type { INodeProperties } from 'n8n-workflow';

import type { Collection } from '../api/http/path';
import { askForApproval, refuseSeveralItems } from '../approval/askForApproval';
import { orThrow } from '../base/errorOf';
import { pickedIdsOfItems, type PickedField } from '../mapping/pickedFields';
import type { Operation } from '../model';
import { pickerProperty, userByNameOrId } from '../parameters/recordParameters';
import { refuseAsTool } from '../toolCalls/toolCall';
import { parseOption, parsePositiveNumber } from '../values/parsers';
import { eachItem } from '../schedule';
import { choiceProperty, numberProperty, textProperty } from '../parameters/properties';

const collections: Record<string, Collection | undefined> = { none: undefined, company: '/companies', contact: '/contacts', deal: '/deals', ticket: '/tickets' };

const approver: PickedField = { field: 'approver', name: 'approverId', displayName: 'Approver', method: 'searchUsers', collection: '/users', isOptional: true };
const aboutRecord: PickedField = { field: 'record', name: 'aboutRecord', displayName: 'Record', method: '' };

const properties: INodeProperties[] = [
	textProperty('Title', 'approvalTitle', {
		default: 'Approval required',
		required: true,
		description: 'Title of the task that the approver gets',
	}),
	textProperty('Message', 'message', {
		typeOptions: { rows: 4 },
		required: true,
		placeholder: 'e.g. Altamira: amount from 1,200 to 12,000',
		description: 'What to approve. It becomes the text of the task.',
	}),
	choiceProperty('About', 'aboutKind', 'none', [
		['Company', 'company'],
		['Contact', 'contact'],
		['Deal', 'deal'],
		['No Record', 'none'],
		['Ticket', 'ticket'],
	], { description: 'The type of record the task is linked to', noDataExpression: false }),
	textProperty('Record Name or ID', 'aboutRecord', {
		displayOptions: { hide: { aboutKind: ['none'] } },
		description: 'The record the task is linked to',
	}),
	{
		...pickerProperty(approver.displayName, approver.name, approver.method, { isOptional: true, by: userByNameOrId }),
		description: 'The user who gets the task. If empty, the owner of the record gets it.',
	},
];

/** A week. */
const defaultHours = 7 * 24;

const limitWaitHours = numberProperty('Limit Wait Time (Hours)', 'limitWaitHours', defaultHours, {
	typeOptions: { minValue: 0.1 },
	description: 'How long to wait. Without an answer, the request counts as declined.',
});

/** What the node outputs once the task was completed or deleted. */
const decisionProperties = {
	approved: { type: 'boolean' },
	outcome: { type: 'string' },
	respondedAt: { type: 'string' },
};

/** Gives somebody a task, and waits until it is completed or deleted. n8n offers the operation to agents as a human review. */
export const sendAndWait: Operation = {
	option: {
		name: 'Send and Wait for Approval',
		// The name by which n8n recognizes it.
		value: 'sendAndWait',
		action: 'Send task and wait for approval',
		description: 'Give a user a task, and wait until it is completed (approved) or deleted (declined)',
	},
	properties: () => properties,
	options: [limitWaitHours],
	output: { type: 'object', properties: { data: { type: 'object', properties: decisionProperties } } },

	prepare(execution) {
		const { n8n } = execution;
		refuseAsTool(n8n);
		refuseSeveralItems(execution);
		const read = (name: string): string => String(n8n.getNodeParameter(name, 0, '') ?? '').trim();
		return eachItem(async (item) => {
			const storedAbout: unknown = n8n.getNodeParameter('aboutKind', item, 'none');
			const about = parseOption('About', storedAbout, Object.keys(collections), { otherwise: 'none' });
			const limit: unknown = n8n.getNodeParameter('options.limitWaitHours', item, defaultHours);
			const hours = parsePositiveNumber(limitWaitHours.displayName, limit, { max: maxHours, unit: 'hours' });
			const message = read('message');
			const { reviewText = '' } = execution;
			if (message + reviewText === '') throw new Error('Message: enter what to approve.');
			const collection = collections[about];
			const [picked] = await pickedIdsOfItems({ ...execution, checks: { links: 'names', values: true } }, [approver, ...(collection ? [{ ...aboutRecord, collection }] : [])]);
			const ids = orThrow(picked!);
			return await askForApproval(execution, {
				title: read('approvalTitle') || 'Approval required',
				message,
				reviewText,
				approver: String(ids.approver ?? ''),
				...(collection && { record: { collection, id: String(ids.record) } }),
				limit: hours * 60 * 60 * 1000,
			});
		});
	},
};

/** A year. */
const maxHours = 365 * 24;
