"""From libclang's cursors to the typed tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cyclescope.c import _clang
from cyclescope.c._depth import DEEPEST, DEEPEST_TYPE, MOST_MEMBERS
from cyclescope.c._initial import initial_list, initial_text
from cyclescope.c._refused import Construct
from cyclescope.c._tree import (
    Assign,
    Binary,
    Call,
    Cast,
    Conditional,
    Expr,
    Index,
    Literal,
    Member,
    Name,
    Opaque,
    Range,
    Text,
    Unary,
    Variable,
)
from cyclescope.c._types import (
    Array,
    CType,
    Field,
    Placed,
    Pointer,
    Scalar,
    Struct,
    Unknown,
    Vector,
    Void,
)
from cyclescope.errors import SourceError

if TYPE_CHECKING:
    from cyclescope.c._clang import Cursor

__all__ = ["ExprBuilder"]

_SIGNED = {"CHAR_S", "SCHAR", "SHORT", "INT", "LONG", "LONGLONG"}
_UNSIGNED = {"CHAR_U", "UCHAR", "USHORT", "UINT", "ULONG", "ULONGLONG"}
_QUALIFIERS = {"const", "volatile", "restrict"}
_ARRAYS = {"CONSTANTARRAY", "INCOMPLETEARRAY", "VARIABLEARRAY"}


class ExprBuilder:
    """Builds types and expressions, and keeps the variables that they name."""

    def __init__(self, externals: dict[str, Variable] | None = None) -> None:
        self.structs: dict[str, Struct] = {}
        self._externals = {} if externals is None else externals
        self._variables: dict[int, Variable] = {}
        self._initialised: set[int] = set()
        self._types: dict[str, CType] = {}
        self._cursor_kind = _clang.kinds().CursorKind
        self._depth = 0
        self._levels = 0

    def where(self, cursor: Cursor) -> Range:
        """The range of a cursor; of a macro's expansion, where the macro is used."""
        start, end = cursor.extent.start, cursor.extent.end
        file = start.file.name if start.file else ""
        return Range(file, start.line, start.column, end.line, end.column)

    def type(self, given: Any) -> CType:
        """The reduced form of a clang type."""
        spelling = given.spelling
        known = self._types.get(spelling)
        if known is None:
            self._levels += 1
            if self._levels > DEEPEST_TYPE:
                declaration = given.get_declaration()
                place = f"{self.where(declaration)}: " if declaration.extent.start.file else ""
                raise SourceError(
                    f"{place}the type {spelling[:60]} has more than {DEEPEST_TYPE} levels of"
                    " structs, arrays and pointers around it; use fewer"
                )
            try:
                known = self._type(given.get_canonical())
            except ValueError:  # the binding doesn't know the kind: _Float16, say
                known = Unknown(spelling)
            self._levels -= 1
            self._types[spelling] = known
        return known

    def _type(self, given: Any) -> CType:
        kind = given.kind.name
        if kind in _SIGNED:
            return Scalar("int", 8 * given.get_size())
        if kind in _UNSIGNED:
            return Scalar("uint", 8 * given.get_size())
        match kind:
            case "BOOL":
                return Scalar("bool", 8)
            case "FLOAT":
                return Scalar("float", 32)
            case "DOUBLE":
                return Scalar("float", 64)
            case "ENUM":  # the compiler's choice: unsigned if no value is negative, small if packed
                return self.type(given.get_declaration().enum_type)
            case "VOID":
                return Void()
            case "POINTER":
                return Pointer(self.type(given.get_pointee()))
            case "VECTOR":
                element = self.type(given.element_type)
                if isinstance(element, Scalar):
                    return Vector(element, given.element_count)
            case "RECORD":
                return self._record(given)
        if kind in ("FUNCTIONPROTO", "FUNCTIONNOPROTO"):
            return Unknown(given.spelling, Construct.FUNCTION_POINTER)
        if kind in _ARRAYS:
            extent = given.element_count if kind == "CONSTANTARRAY" else None
            return Array(self.type(given.element_type), extent)
        return Unknown(given.spelling)

    def _record(self, given: Any) -> CType:
        declaration = given.get_declaration()
        is_union = declaration.kind == self._cursor_kind.UNION_DECL
        words = given.spelling.split(" ")  # the type is the same, whoever may write it
        name = " ".join(w for w in words if w not in _QUALIFIERS).removeprefix("struct ")
        shown = given.spelling
        # A struct that points to itself needs something to point to while it is being built.
        unfinished = self._types[given.spelling] = Unknown(given.spelling)
        fields = tuple((f.spelling, self.type(f.type)) for f in given.get_fields())
        placed = tuple(
            Field(
                f.spelling,
                kind,
                f.get_field_offsetof(),
                f.get_bitfield_width() if f.is_bitfield() else 0,
            )
            for f, (_, kind) in zip(given.get_fields(), fields, strict=True)
            if f.spelling or not f.is_bitfield()
        )
        for spelling, known in list(self._types.items()):
            while isinstance(known, Pointer | Array):
                known = known.target if isinstance(known, Pointer) else known.element
            if known is unfinished:
                del self._types[spelling]  # outside of its fields it is the whole struct
        struct = Struct(name, fields)
        if _has_more_members(struct, MOST_MEMBERS):
            raise SourceError(
                f"{self.where(declaration)}: {struct} has more than {MOST_MEMBERS:,} members, those"
                " of the structs in it included; make them arrays"
            )
        # Asked last: libclang, too, looks at all members.
        place = given.get_size(), given.get_align()
        if is_union and place[0] < 0:
            return Unknown(shown, Construct.UNION)
        if is_union:
            return Placed(shown, Construct.UNION, placed, *place)
        if not _is_plain(given):
            shown = f"{shown} (bit-fields, or packed)"
            return Placed(shown, Construct.PACKED, placed, *place)
        self.structs[name] = struct
        return struct

    def variable(self, cursor: Cursor, scope: str) -> Variable:
        """The variable that a declaration declares; the same object for each mention."""
        key = cursor.canonical.hash
        found = self._variables.get(key)
        if found is None and scope == "global" and cursor.storage_class.name != "STATIC":
            found = self._external(cursor)
            self._variables[key] = found
        if found is None:
            kind = self.type(cursor.type)
            found = Variable(cursor.spelling, kind, self.where(cursor), scope)
            found.internal = scope == "global" and cursor.storage_class.name == "STATIC"
            found.volatile = _is_volatile(cursor.type)
            self._variables[key] = found
            found.extents = self._extents(cursor)
        initial = _clang.initial_value(cursor) if scope != "param" else None
        if initial is not None and found.init is None and key not in self._initialised:
            self._initialised.add(key)  # its initial value may name it
            text = initial_text(initial, found.type, self.where(initial))
            found.init = text if text is not None else self.expr(initial)
        return found

    def _external(self, cursor: Cursor) -> Variable:
        """A global that other files may name: the same object in all of them."""
        kind = self.type(cursor.type)
        found = self._externals.get(cursor.spelling)
        if found is None:
            found = Variable(cursor.spelling, kind, self.where(cursor), "global")
            found.volatile = _is_volatile(cursor.type)
            self._externals[cursor.spelling] = found
        elif isinstance(found.type, Array) and found.type.extent is None:
            found.type = kind  # declared without its extent before
        return found

    def _extents(self, cursor: Cursor) -> tuple[Expr, ...]:
        """The extents of a declarator that aren't constants, outermost first."""
        dimensions = _dimensions(cursor.type)
        if "VARIABLEARRAY" not in dimensions:
            return ()
        initial = _clang.initial_value(cursor)
        inner = [c for c in _clang.children(cursor) if c.kind.is_expression()]
        inner = [c for c in inner if initial is None or c != initial]
        inner.sort(key=lambda c: c.extent.start.offset)
        written = [d for d in dimensions if d != "INCOMPLETEARRAY"]
        if len(written) != len(inner):  # a typedef has the others
            written = ["VARIABLEARRAY" if _clang.evaluate(c) is None else "" for c in inner]
        return tuple(
            self.expr(c) for c, d in zip(inner, written, strict=True) if d == "VARIABLEARRAY"
        )

    def expr(self, cursor: Cursor) -> Expr:
        """The expression of a cursor."""
        kind = cursor.kind.name
        build = getattr(self, f"_{kind.lower()}", None)
        if build is not None:
            # Counted here, since libclang's callbacks swallow a RecursionError.
            self._depth += 1
            if self._depth > DEEPEST:
                raise SourceError(f"{self.where(cursor)}: nested too deeply; split this expression")
            result: Expr = build(cursor)
            self._depth -= 1
            return result
        return self._opaque(cursor, Construct.OTHER)

    def _opaque(self, cursor: Cursor, construct: Construct) -> Opaque:
        return Opaque(self.where(cursor), self.type(cursor.type), construct)

    def _children(self, cursor: Cursor) -> list[Cursor]:
        return [c for c in _clang.children(cursor) if c.kind.is_expression()]

    def _paren_expr(self, cursor: Cursor) -> Expr:
        return self.expr(self._children(cursor)[0])

    def _unexposed_expr(self, cursor: Cursor) -> Expr:
        inner = self._children(cursor)
        if len(inner) != 1:
            return self._opaque(cursor, Construct.OTHER)
        operand = self.expr(inner[0])
        target = self.type(cursor.type)
        converts = isinstance(target, Scalar | Vector) and isinstance(operand.type, Scalar | Vector)
        if converts and target != operand.type:
            return Cast(operand.where, target, operand, implicit=True)
        return operand

    def _literal(self, cursor: Cursor) -> Expr:
        value = _clang.evaluate(cursor)
        if value is None:
            return self._opaque(cursor, Construct.OTHER)
        return Literal(self.where(cursor), self.type(cursor.type), value)

    _integer_literal = _literal
    _floating_literal = _literal
    _character_literal = _literal
    _cxx_unary_expr = _literal

    def _string_literal(self, cursor: Cursor) -> Expr:
        where, kind = self.where(cursor), self.type(cursor.type)
        return Text(where, kind, Construct.STRING, cursor.spelling)

    def _decl_ref_expr(self, cursor: Cursor) -> Expr:
        target = cursor.referenced
        kinds = self._cursor_kind
        if target.kind == kinds.ENUM_CONSTANT_DECL:
            return Literal(self.where(cursor), self.type(cursor.type), target.enum_value)
        if target.kind == kinds.PARM_DECL:
            scope = "param"
        elif target.kind == kinds.VAR_DECL:
            is_local = target.semantic_parent.kind == kinds.FUNCTION_DECL
            static = target.storage_class.name == "STATIC"
            scope = ("static" if static else "local") if is_local else "global"
        else:
            return self._opaque(cursor, Construct.FUNCTION_POINTER)
        variable = self.variable(target, scope)
        return Name(self.where(cursor), variable.type, variable)

    def _array_subscript_expr(self, cursor: Cursor) -> Expr:
        base, index = (self.expr(c) for c in self._children(cursor))
        if isinstance(base.type, Scalar):  # i[a] is a[i]
            base, index = index, base
        return Index(self.where(cursor), self.type(cursor.type), base, index)

    def _member_ref_expr(self, cursor: Cursor) -> Expr:
        inner = self._children(cursor)
        if not inner:
            return self._opaque(cursor, Construct.OTHER)
        base = self.expr(inner[0])
        arrow = isinstance(base.type, Pointer | Array)
        return Member(self.where(cursor), self.type(cursor.type), base, cursor.spelling, arrow)

    def _unary_operator(self, cursor: Cursor) -> Expr:
        op = _clang.operator(cursor)
        operand = self.expr(self._children(cursor)[0])
        if not op:
            return self._opaque(cursor, Construct.OTHER)
        if op == "+" and operand.type == self.type(cursor.type):
            return operand
        return Unary(self.where(cursor), self.type(cursor.type), op, operand)

    def _binary_operator(self, cursor: Cursor) -> Expr:
        op = _clang.operator(cursor)
        left, right = (self.expr(c) for c in self._children(cursor))
        where, kind = self.where(cursor), self.type(cursor.type)
        if op == "=":
            return Assign(where, kind, op, left, right, left.type)
        return Binary(where, _decayed(kind), op, left, right)

    def _compound_assignment_operator(self, cursor: Cursor) -> Expr:
        op = _clang.operator(cursor)
        target, value = (self.expr(c) for c in self._children(cursor))
        if op in ("<<=", ">>="):
            common = _promoted(target.type)
        else:
            common = _common(target.type, value.type)
        return Assign(self.where(cursor), self.type(cursor.type), op, target, value, common)

    def _conditional_operator(self, cursor: Cursor) -> Expr:
        condition, then, other = (self.expr(c) for c in self._children(cursor))
        kind = _decayed(self.type(cursor.type))
        return Conditional(self.where(cursor), kind, condition, then, other)

    def _cstyle_cast_expr(self, cursor: Cursor) -> Expr:
        operand = self.expr(self._children(cursor)[-1])
        target = self.type(cursor.type)
        if target == operand.type and isinstance(target, Scalar | Vector):
            return operand
        return Cast(self.where(cursor), target, operand, implicit=False)

    def _call_expr(self, cursor: Cursor) -> Expr:
        target = cursor.referenced
        if target is None or target.kind != self._cursor_kind.FUNCTION_DECL:
            return self._opaque(cursor, Construct.FUNCTION_POINTER)
        args = tuple(self.expr(a) for a in cursor.get_arguments())
        return Call(self.where(cursor), self.type(cursor.type), target.spelling, args)

    def _compound_literal_expr(self, cursor: Cursor) -> Expr:
        inner = self._children(cursor)
        if inner and isinstance(self.type(cursor.type), Scalar | Vector | Struct):
            return self.expr(inner[-1])
        return self._opaque(cursor, Construct.COMPOUND)

    def _init_list_expr(self, cursor: Cursor) -> Expr:
        made = initial_list(cursor, self.type(cursor.type), self.where(cursor), self.expr)
        return made if made is not None else self._opaque(cursor, Construct.OTHER)


def _is_plain(given: Any) -> bool:
    """Return whether a struct's fields are where their sizes and alignments put them."""
    position, widest = 0, 1
    for field in given.get_fields():
        size, to = field.type.get_size(), field.type.get_align()
        if size < 0 or to < 1 or field.is_bitfield():
            return False
        position = -(-position // to) * to
        if field.get_field_offsetof() != 8 * position:
            return False
        position, widest = position + size, max(widest, to)
    return bool(given.get_align() == widest)


def _has_more_members(struct: Struct, most: int) -> bool:
    """Return whether a struct has, wherever in it, more members than that."""
    waiting: list[CType] = [struct]
    count = 0
    while waiting and count <= most:
        match waiting.pop():
            case Struct(fields=fields):
                count += len(fields)
                waiting += (kind for _, kind in fields)
            case Pointer(target=inner) | Array(element=inner):
                waiting.append(inner)
    return count > most


def _dimensions(given: Any) -> list[str]:
    """The kinds of the arrays in a declared type, outermost first."""
    found = []
    given = given.get_canonical()
    try:
        while given.kind.name == "POINTER" or given.kind.name in _ARRAYS:
            if given.kind.name == "POINTER":
                given = given.get_pointee().get_canonical()
            else:
                found.append(given.kind.name)
                given = given.element_type.get_canonical()
    except ValueError:  # a kind that the binding doesn't know ends the search
        return found
    return found


def _decayed(kind: CType) -> CType:
    """The type of a value made of array parameters, which clang still calls an array."""
    return Pointer(kind.element) if isinstance(kind, Array) else kind


def _promoted(kind: CType) -> CType:
    if isinstance(kind, Scalar) and not kind.is_float and kind.bits < 32:
        return Scalar("int", 32)
    return kind


def _common(left: CType, right: CType) -> CType:
    """The usual arithmetic conversions (C11 6.3.1.8) for the types in the tree."""
    if not (isinstance(left, Scalar) and isinstance(right, Scalar)):
        return left if isinstance(left, Vector | Pointer) else right
    if left.is_float or right.is_float:
        return Scalar("float", max(s.bits for s in (left, right) if s.is_float))
    a, b = _promoted(left), _promoted(right)
    assert isinstance(a, Scalar)
    assert isinstance(b, Scalar)
    bits = max(a.bits, b.bits)
    unsigned = any(s.kind == "uint" and s.bits == bits for s in (a, b))
    return Scalar("uint" if unsigned else "int", bits)


def _is_volatile(given: Any) -> bool:
    """Return whether a type, or that of its elements or of what it points to, is volatile."""
    given = given.get_canonical()
    while not given.is_volatile_qualified():
        try:
            kind = given.kind.name
            if kind not in _ARRAYS and kind != "POINTER":
                return False
            inner = given.element_type if kind in _ARRAYS else given.get_pointee()
        except ValueError:  # the binding doesn't know the kind
            return False
        given = inner.get_canonical()
    return True
