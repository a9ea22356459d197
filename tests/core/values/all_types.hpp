#pragma once

#include <muster/protocol/bully.hpp>
#include <muster/protocol/invitation.hpp>
#include <muster/protocol/letter.hpp>
#include <muster/protocol/step.hpp>
#include <muster/protocol/textbook.hpp>
#include <muster/values/types.hpp>

#include <boost/mp11/algorithm.hpp>
#include <boost/mp11/list.hpp>
#include <boost/mp11/utility.hpp>

/// All value types of the protocol.

namespace muster::test {

template <class Variant>
using AlternativesOf = boost::mp11::mp_rename<Variant, boost::mp11::mp_list>;

template <class T>
using HasNoFields = boost::mp11::mp_empty<FieldsOf<T>>;

/// All structs.
using Structs = boost::mp11::mp_append<
    boost::mp11::mp_list<GroupNumber, ElectionId, Assigned, StateVector, SafeState, Holdings,
                         Member, Repairs, Timings, Config, Letter, StopCause, View, bully::Owed,
                         bully::HaltedLife, bully::State, invitation::Repairs, invitation::Owed,
                         invitation::State, textbook::State>,
    AlternativesOf<Message>, AlternativesOf<Result>, AlternativesOf<Event>, AlternativesOf<Action>,
    AlternativesOf<bully::Procedure>, AlternativesOf<invitation::Procedure>,
    AlternativesOf<textbook::Procedure>>;

/// All structs that have fields.
using StructsWithFields = boost::mp11::mp_remove_if<Structs, HasNoFields>;

/// Structs, enumerations, variants and containers.
using AllTypes = boost::mp11::mp_append<
    Structs,
    boost::mp11::mp_list<NodeId, Digest, Bytes, NodeSet, Status, StopReason, Message, Result, Event,
                         Action, bully::Procedure, Actions, Members, std::optional<Assigned>,
                         std::map<NodeId, ElectionId>, std::vector<std::optional<GroupNumber>>>>;

/// Calls `visit` with a boost::mp11::mp_identity of each type.
template <class Types, class Visit>
void for_each_type(Visit visit) {
  boost::mp11::mp_for_each<boost::mp11::mp_transform<boost::mp11::mp_identity, Types>>(visit);
}

}  // namespace muster::test
