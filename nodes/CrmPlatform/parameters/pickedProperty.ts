import type { INodeProperties } from 'n8n-workflow';

import type { PickedField } from '../mapping/pickedFields';
import { byNameOrId, pickerProperty, userByNameOrId } from './recordParameters';

export function pickedProperty(field: PickedField): INodeProperties {
	const { displayName, name, method, isOptional = false, description } = field;
	const property = pickerProperty(displayName, name, method, { isOptional, by: method === 'searchUsers' ? userByNameOrId : byNameOrId });
	return description === undefined ? property : { ...property, description };
}
