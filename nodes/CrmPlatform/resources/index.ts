import type { MenuEntry, Resource } from '../model';
import { accountPlan } from './accountPlan';
import { activity } from './activity';
import { apiRequest } from './apiRequest';
import { changeResource } from './change';
import { company } from './company';
import { contact } from './contact';
import { customField } from './customField';
import { customObject } from './customObject';
import { customObjectRecord } from './customObjectRecord';
import { deal } from './deal';
import { event } from './event';
import { job } from './job';
import { message } from './message';
import { note } from './note';
import { pipeline } from './pipeline';
import { tag } from './tag';
import { task } from './task';
import { ticket } from './ticket';
import { user } from './user';
import { webhook } from './webhook';
import { webhookDelivery } from './webhookDelivery';

/** In the order of their display names: `activity` is *Logged Activity*. */
const everydayRecords: Resource[] = [
	company,
	contact,
	customObjectRecord,
	deal,
	activity,
	message,
	note,
	task,
	ticket,
];

/** The resources for everyday work, by name. */
export const everyday: Resource[] = [changeResource(everydayRecords.filter(({ isUndoable }) => isUndoable)), ...everydayRecords];

/** The resources for setting up and monitoring an account, in the order of their display names: `accountPlan` is *Plan*. */
export const administration: Resource[] = [
	apiRequest,
	customField,
	customObject,
	event,
	job,
	pipeline,
	accountPlan,
	tag,
	user,
	webhook,
	webhookDelivery,
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

const single = (resource: Resource): MenuEntry => ({
	...resource,
	operations: resource.operations.filter(({ option }) => !gatheredOperations.includes(String(option.value))),
});

/** The menu of CRM Platform. */
export const everydayMenu: MenuEntry[] = [
	...everyday.map(single),
	gathered('File', 'file', ['exportFile', 'importFile']),
	gathered('Tag', 'recordTag', ['addTag', 'removeTag']),
].sort((a, b) => (a.name < b.name ? -1 : 1));

/** The menu of CRM Platform Admin. */
export const adminMenu: MenuEntry[] = administration.map(single);

/**
 * The resource that the user has chosen.
 *
 * @param read returns the value of a parameter
 */
export function chosenResource(read: (parameter: string) => unknown): Resource | undefined {
	const value = String(read('resource'));
	const isGathered = everydayMenu.some((menu) => menu.recordTypes && menu.value === value);
	return resourceNamed(isGathered ? String(read('kind')) : value);
}

/** The resource with that value, if any. */
export function resourceNamed(value: string): Resource | undefined {
	return resources.find((resource) => resource.value === value);
}
