import type { Resource } from '../model';
import { account } from './account';
import { activity } from './activity';
import { company } from './company';
import { contact } from './contact';
import { customField } from './customField';
import { customObject } from './customObject';
import { customObjectRecord } from './customObjectRecord';
import { deal } from './deal';
import { message } from './message';
import { note } from './note';
import { pipeline } from './pipeline';
import { tag } from './tag';
import { task } from './task';
import { ticket } from './ticket';
import { user } from './user';

/** The menu: every kind of record the node offers, in the order shown. */
export const resources: Resource[] = [
	account,
	activity,
	company,
	contact,
	customField,
	customObject,
	customObjectRecord,
	deal,
	message,
	note,
	pipeline,
	tag,
	task,
	ticket,
	user,
];

/** The kind of record a workflow names. */
export function resourceNamed(value: string): Resource | undefined {
	return resources.find((resource) => resource.value === value);
}
